// The classes of well-known tutorials on NSCoding, archived with GNUstep's archiver as their programs
// do, and read back.
//
//   tutorials write FOLDER    writes the files, in binary and those that end with .xml in XML
//   tutorials read FILE       prints the objects of an archive, one a line
//   tutorials add FILE        adds to the collection in an archive, as a user would, and prints it

#import <Foundation/Foundation.h>

@interface Account : NSObject <NSCoding>
{
@public
  NSString *username;
}
@end

@implementation Account

- (void) encodeWithCoder: (NSCoder *)coder
{
  [coder encodeObject: username forKey: @"username"];
}

- (id) initWithCoder: (NSCoder *)coder
{
  username = [[coder decodeObjectForKey: @"username"] retain];
  return self;
}

- (NSString *) description
{
  return [NSString stringWithFormat: @"Account(%@)", username];
}

@end

@interface Options : NSObject <NSCoding>
{
@public
  BOOL playSound;
  BOOL playMusic;
}
@end

@implementation Options

- (void) encodeWithCoder: (NSCoder *)coder
{
  [coder encodeBool: playSound forKey: @"PlaySound"];
  [coder encodeBool: playMusic forKey: @"PlayMusic"];
}

- (id) initWithCoder: (NSCoder *)coder
{
  playSound = [coder decodeBoolForKey: @"PlaySound"];
  playMusic = [coder decodeBoolForKey: @"PlayMusic"];
  return self;
}

- (NSString *) description
{
  return [NSString stringWithFormat: @"Options(%d %d)", playSound, playMusic];
}

@end

@interface GameOptions : Options
@end

@implementation GameOptions
@end

@interface ScaryBugData : NSObject <NSCoding>
{
@public
  NSString *title;
  float rating;
}
@end

@implementation ScaryBugData

- (void) encodeWithCoder: (NSCoder *)coder
{
  [coder encodeObject: title forKey: @"Title"];
  [coder encodeFloat: rating forKey: @"Rating"];
}

- (id) initWithCoder: (NSCoder *)coder
{
  title = [[coder decodeObjectForKey: @"Title"] retain];
  rating = [coder decodeFloatForKey: @"Rating"];
  return self;
}

- (NSString *) description
{
  return [NSString stringWithFormat: @"ScaryBugData(%@ %.1f)", title, rating];
}

@end

@interface Book : NSObject <NSCoding>
{
@public
  NSString *title;
  NSString *author;
  NSUInteger pageCount;
  NSSet *categories;
  BOOL available;
}
@end

@implementation Book

- (void) encodeWithCoder: (NSCoder *)coder
{
  [coder encodeObject: title forKey: @"title"];
  [coder encodeObject: author forKey: @"author"];
  [coder encodeInteger: pageCount forKey: @"pageCount"];
  [coder encodeObject: categories forKey: @"categories"];
  [coder encodeBool: available forKey: @"available"];
}

- (id) initWithCoder: (NSCoder *)coder
{
  title = [[coder decodeObjectForKey: @"title"] retain];
  author = [[coder decodeObjectForKey: @"author"] retain];
  pageCount = [coder decodeIntegerForKey: @"pageCount"];
  categories = [[coder decodeObjectForKey: @"categories"] retain];
  available = [coder decodeBoolForKey: @"available"];
  return self;
}

- (NSString *) description
{
  NSArray *sorted = [[categories allObjects] sortedArrayUsingSelector: @selector (compare:)];

  return [NSString stringWithFormat: @"Book(%@ %@ %d %@ %d)", title, author, (int) pageCount,
    [sorted componentsJoinedByString: @"+"], available];
}

@end

static Account *
account (NSString *name)
{
  Account *account = [[Account new] autorelease];

  account->username = [name retain];
  return account;
}

static ScaryBugData *
bug (NSString *title, float rating)
{
  ScaryBugData *bug = [[ScaryBugData new] autorelease];

  bug->title = [title retain];
  bug->rating = rating;
  return bug;
}

static Book *
book (NSString *title, NSSet *categories, BOOL available)
{
  Book *book = [[Book new] autorelease];

  book->title = [title retain];
  book->author = @"Jane Austen";
  book->pageCount = 474;
  book->categories = [categories retain];
  book->available = available;
  return book;
}

static Options *
options (Options *options)
{
  options->playSound = YES;
  options->playMusic = NO;
  return [options autorelease];
}

static BOOL
archive (id object, NSString *key, NSString *folder, NSString *name)
{
  NSMutableData *data = [NSMutableData data];
  NSKeyedArchiver *archiver
    = [[[NSKeyedArchiver alloc] initForWritingWithMutableData: data] autorelease];
  BOOL isXML = [name hasSuffix: @".xml"];

  [archiver setOutputFormat: isXML ? NSPropertyListXMLFormat_v1_0 : NSPropertyListBinaryFormat_v1_0];
  [archiver encodeObject: object forKey: key];
  [archiver finishEncoding];
  return [data writeToFile: [folder stringByAppendingPathComponent: name] atomically: NO];
}

// The folder of a bug, such as 1.scarybug, as the program makes it.
static BOOL
archiveBug (ScaryBugData *bug, NSString *folder, NSString *name)
{
  NSString *path = [folder stringByAppendingPathComponent: name];

  return [[NSFileManager defaultManager] createDirectoryAtPath: path
                                   withIntermediateDirectories: YES
                                                    attributes: nil
                                                         error: NULL]
    && archive (bug, @"Data", path, @"data.plist");
}

static int
writeAll (NSString *folder)
{
  NSString *bugs = [folder stringByAppendingPathComponent: @"Private Documents"];
  NSSet *categories = [NSSet setWithObjects: @"novel", @"classic", nil];
  NSMutableDictionary *accounts = [NSMutableDictionary dictionary];
  NSMutableArray *list = [NSMutableArray arrayWithObjects: account (@"ada"), account (@"bob"), nil];
  NSMutableArray *titles = [NSMutableArray arrayWithObjects: @"Dune", @"Emma", nil];
  NSArray *books = [NSArray arrayWithObjects: book (@"Emma", categories, YES),
    book (@"Persuasion", nil, NO), nil];

  [accounts setObject: account (@"ada") forKey: @"work"];
  [accounts setObject: account (@"bob") forKey: @"home"];
  return archive (accounts, @"root", folder, @"accounts")
    && archive ([NSDictionary dictionaryWithObject: accounts forKey: @"accounts"], @"root", folder,
      @"data.bin")
    && archive ([NSDictionary dictionaryWithObject: list forKey: @"accounts"], @"root", folder,
      @"list-data.xml")
    && archive (titles, @"root", folder, @"titles.xml")
    && archive (books, @"root", folder, @"books.xml")
    && archive (options ([Options new]), @"root", folder, @"options.xml")
    && archive ([NSArray array], @"root", folder, @"empty-list")
    && archive ([NSDictionary dictionary], @"root", folder, @"empty-dictionary")
    && archiveBug (bug (@"Potato Bug", 4.0), bugs, @"1.scarybug")
    && archiveBug (bug (@"Wolf Spider", 2.5), bugs, @"2.scarybug")
    && archive (list, @"root", folder, @"account-list")
    && archive (titles, @"root", folder, @"titles")
    && archive (options ([Options new]), @"root", folder, @"options")
    && archive (options ([GameOptions new]), @"root", folder, @"game-options")
    && archive (books, @"root", folder, @"books")
    && archive (bug (@"Potato Bug", 4.0), @"Data", folder, @"bug-1")
    && archive (bug (@"Wolf Spider", 2.5), @"Data", folder, @"bug-2") ? 0 : 1;
}

static void
print (id object)
{
  NSEnumerator *elements;
  id element;

  if (![object isKindOfClass: [NSArray class]])
    object = [NSArray arrayWithObject: object];
  elements = [object objectEnumerator];
  while ((element = [elements nextObject]) != nil)
    printf ("%s\n", [[element description] UTF8String]);
}

static id
rootOf (NSString *file)
{
  NSData *data = [NSData dataWithContentsOfFile: file];
  NSKeyedUnarchiver *unarchiver
    = [[[NSKeyedUnarchiver alloc] initForReadingWithData: data] autorelease];
  NSString *key = [unarchiver containsValueForKey: @"Data"] ? @"Data" : @"root";

  return [unarchiver decodeObjectForKey: key];
}

// Adds to what was read. This raises an exception if it is a collection that cannot be changed.
static void
addAndPrint (id root)
{
  if ([root isKindOfClass: [NSDictionary class]])
    {
      NSMutableDictionary *accounts = [root objectForKey: @"accounts"];
      NSArray *names;

      [accounts setObject: account (@"grace") forKey: @"navy"];
      names = [[accounts allKeys] sortedArrayUsingSelector: @selector (compare:)];
      print ([accounts objectsForKeys: names notFoundMarker: [NSNull null]]);
      return;
    }
  [root addObject: @"Persuasion"];
  print (root);
}

int
main (int argc, char **argv)
{
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  int status = 2;

  if (argc == 3 && strcmp (argv[1], "write") == 0)
    status = writeAll ([NSString stringWithUTF8String: argv[2]]);
  else if (argc == 3 && strcmp (argv[1], "read") == 0)
    {
      print (rootOf ([NSString stringWithUTF8String: argv[2]]));
      status = 0;
    }
  else if (argc == 3 && strcmp (argv[1], "add") == 0)
    {
      addAndPrint (rootOf ([NSString stringWithUTF8String: argv[2]]));
      status = 0;
    }
  [pool release];
  return status;
}
