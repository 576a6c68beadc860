// The classes of well-known tutorials on NSCoding, archived with GNUstep's archiver as their programs
// do, and read back.
//
//   tutorials write FOLDER    writes one archive a file, in binary
//   tutorials read FILE       prints the objects of an archive, one a line

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

  [archiver setOutputFormat: NSPropertyListBinaryFormat_v1_0];
  [archiver encodeObject: object forKey: key];
  [archiver finishEncoding];
  return [data writeToFile: [folder stringByAppendingPathComponent: name] atomically: NO];
}

static int
writeAll (NSString *folder)
{
  NSSet *categories = [NSSet setWithObjects: @"novel", @"classic", nil];
  NSMutableDictionary *accounts = [NSMutableDictionary dictionary];
  NSMutableArray *list = [NSMutableArray arrayWithObjects: account (@"ada"), account (@"bob"), nil];
  NSMutableArray *titles = [NSMutableArray arrayWithObjects: @"Dune", @"Emma", nil];
  NSArray *books = [NSArray arrayWithObjects: book (@"Emma", categories, YES),
    book (@"Persuasion", nil, NO), nil];

  [accounts setObject: account (@"ada") forKey: @"work"];
  [accounts setObject: account (@"bob") forKey: @"home"];
  return archive (accounts, @"root", folder, @"accounts")
    && archive (list, @"root", folder, @"account-list")
    && archive (titles, @"root", folder, @"titles")
    && archive (options ([Options new]), @"root", folder, @"options")
    && archive (options ([GameOptions new]), @"root", folder, @"game-options")
    && archive (books, @"root", folder, @"books")
    && archive (bug (@"Potato Bug", 4.0), @"Data", folder, @"bug-1")
    && archive (bug (@"Wolf Spider", 2.5), @"Data", folder, @"bug-2") ? 0 : 1;
}

static int
readOne (NSString *file)
{
  NSData *data = [NSData dataWithContentsOfFile: file];
  NSKeyedUnarchiver *unarchiver
    = [[[NSKeyedUnarchiver alloc] initForReadingWithData: data] autorelease];
  NSString *key = [unarchiver containsValueForKey: @"Data"] ? @"Data" : @"root";
  id object = [unarchiver decodeObjectForKey: key];
  NSEnumerator *elements;
  id element;

  if (![object isKindOfClass: [NSArray class]])
    object = [NSArray arrayWithObject: object];
  elements = [object objectEnumerator];
  while ((element = [elements nextObject]) != nil)
    printf ("%s\n", [[element description] UTF8String]);
  return 0;
}

int
main (int argc, char **argv)
{
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  int status = 2;

  if (argc == 3 && strcmp (argv[1], "write") == 0)
    status = writeAll ([NSString stringWithUTF8String: argv[2]]);
  else if (argc == 3 && strcmp (argv[1], "read") == 0)
    status = readOne ([NSString stringWithUTF8String: argv[2]]);
  [pool release];
  return status;
}
