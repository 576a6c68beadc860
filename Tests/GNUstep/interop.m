// Writes keyed archives with GNUstep's archiver, and shows what its unarchiver reads.
//
//   interop write FOLDER    writes one archive a file, in binary
//   interop read FILE...    prints one line a file, in the same order

#import <Foundation/Foundation.h>

@interface Account : NSObject <NSCoding>
{
@public
  NSString *username;
  BOOL isActive;
  int age;
  int64_t total;
  double balance;
  float ratio;
  NSArray *tags;
  Account *friend;
}
@end

@implementation Account

- (void) encodeWithCoder: (NSCoder *)coder
{
  [coder encodeObject: username forKey: @"username"];
  [coder encodeBool: isActive forKey: @"isActive"];
  [coder encodeInt: age forKey: @"age"];
  [coder encodeInt64: total forKey: @"total"];
  [coder encodeDouble: balance forKey: @"balance"];
  [coder encodeFloat: ratio forKey: @"ratio"];
  [coder encodeObject: tags forKey: @"tags"];
  [coder encodeObject: friend forKey: @"friend"];
}

- (id) initWithCoder: (NSCoder *)coder
{
  username = [[coder decodeObjectForKey: @"username"] retain];
  isActive = [coder decodeBoolForKey: @"isActive"];
  age = [coder decodeIntForKey: @"age"];
  total = [coder decodeInt64ForKey: @"total"];
  balance = [coder decodeDoubleForKey: @"balance"];
  ratio = [coder decodeFloatForKey: @"ratio"];
  tags = [[coder decodeObjectForKey: @"tags"] retain];
  friend = [[coder decodeObjectForKey: @"friend"] retain];
  return self;
}

@end

static Account *
account (NSString *name, Account *friend)
{
  Account *account = [[Account new] autorelease];

  account->username = [name retain];
  account->isActive = YES;
  account->age = 36;
  account->total = INT64_MIN;
  account->balance = 0.1;
  account->ratio = 0.5;
  account->tags = [[NSArray alloc] initWithObjects: @"a", @"b", nil];
  account->friend = [friend retain];
  return account;
}

static NSDictionary *
values (void)
{
  unichar accented[] = { 'c', 0xE9, 0xD83D, 0xDE00 };
  unsigned char bytes[] = { 1, 2, 255 };
  NSString *text = [NSString stringWithCharacters: accented length: 4];
  NSData *data = [NSData dataWithBytes: bytes length: 3];
  NSMutableString *shared = [NSMutableString stringWithString: @"shared"];
  Account *grace = account (@"grace", nil);

  return [NSDictionary dictionaryWithObjectsAndKeys:
    @"text", @"ascii",
    text, @"utf16",
    @"", @"empty",
    [NSMutableString stringWithString: @"mutable"], @"mutable-string",
    [NSNumber numberWithBool: YES], @"true",
    [NSNumber numberWithBool: NO], @"false",
    [NSNumber numberWithInt: 42], @"integer",
    [NSNumber numberWithLongLong: INT64_MIN], @"smallest",
    [NSNumber numberWithDouble: 0.1], @"real",
    [NSDate dateWithTimeIntervalSinceReferenceDate: 60.5], @"date",
    data, @"data",
    [NSMutableData dataWithData: data], @"mutable-data",
    [NSNull null], @"null",
    [NSArray arrayWithObjects: @"a", [NSNumber numberWithInt: 1], [NSArray array], nil], @"array",
    [NSMutableArray arrayWithObject: @"a"], @"mutable-array",
    [NSDictionary dictionaryWithObject: [NSNumber numberWithInt: 1] forKey: @"k"], @"dictionary",
    [NSMutableDictionary dictionaryWithObject: @"v" forKey: @"k"], @"mutable-dictionary",
    [NSSet setWithObject: @"a"], @"set",
    [NSMutableSet setWithObject: @"a"], @"mutable-set",
    [NSURL URLWithString: @"http://example.org/a?b"], @"url",
    [NSArray arrayWithObjects: shared, shared, nil], @"shared",
    account (@"ada", nil), @"account",
    [NSArray arrayWithObjects: account (@"ada", grace), grace, nil], @"friends",
    nil];
}

static int
writeAll (NSString *folder)
{
  NSDictionary *all = values ();
  NSEnumerator *names = [all keyEnumerator];
  NSString *name;

  while ((name = [names nextObject]) != nil)
    {
      NSMutableData *data = [NSMutableData data];
      NSKeyedArchiver *archiver
        = [[[NSKeyedArchiver alloc] initForWritingWithMutableData: data] autorelease];

      [archiver setOutputFormat: NSPropertyListBinaryFormat_v1_0];
      [archiver encodeObject: [all objectForKey: name] forKey: @"root"];
      [archiver finishEncoding];
      if (![data writeToFile: [folder stringByAppendingPathComponent: name] atomically: NO])
        return 1;
    }
  return 0;
}

// The object in one line, which is the same in each run.
static NSString *
line (id object)
{
  if (object == nil)
    return @"nil";
  if ([object isKindOfClass: [Account class]])
    {
      Account *a = object;

      return [NSString stringWithFormat: @"Account(%@ %@ %d %lld %@ %@ %@ %@)", a->username,
        a->isActive ? @"YES" : @"NO", a->age, (long long) a->total,
        [NSNumber numberWithDouble: a->balance], [NSNumber numberWithFloat: a->ratio],
        line (a->tags), line (a->friend)];
    }
  if ([object isKindOfClass: [NSDate class]])
    return [NSString stringWithFormat: @"date %g", [object timeIntervalSinceReferenceDate]];
  if ([object isKindOfClass: [NSArray class]] || [object isKindOfClass: [NSSet class]])
    {
      NSMutableArray *lines = [NSMutableArray array];
      NSEnumerator *elements = [object objectEnumerator];
      id element;

      while ((element = [elements nextObject]) != nil)
        [lines addObject: line (element)];
      if ([object isKindOfClass: [NSSet class]])
        [lines sortUsingSelector: @selector (compare:)];
      return [NSString stringWithFormat: @"%@[%@]",
        [object isKindOfClass: [NSSet class]] ? @"set" : @"",
        [lines componentsJoinedByString: @", "]];
    }
  if ([object isKindOfClass: [NSDictionary class]])
    {
      NSArray *keys = [[object allKeys] sortedArrayUsingSelector: @selector (compare:)];
      NSMutableArray *lines = [NSMutableArray array];
      NSEnumerator *all = [keys objectEnumerator];
      id key;

      while ((key = [all nextObject]) != nil)
        [lines addObject: [NSString stringWithFormat: @"%@: %@", key,
          line ([object objectForKey: key])]];
      return [NSString stringWithFormat: @"{%@}", [lines componentsJoinedByString: @", "]];
    }
  return [object description];
}

static int
readAll (int count, char **files)
{
  int i;

  for (i = 0; i < count; i++)
    {
      NSData *data = [NSData dataWithContentsOfFile: [NSString stringWithUTF8String: files[i]]];

      printf ("%s\n", [line ([NSKeyedUnarchiver unarchiveObjectWithData: data]) UTF8String]);
    }
  return 0;
}

int
main (int argc, char **argv)
{
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  int status = 2;

  if (argc == 3 && strcmp (argv[1], "write") == 0)
    status = writeAll ([NSString stringWithUTF8String: argv[2]]);
  else if (argc > 2 && strcmp (argv[1], "read") == 0)
    status = readAll (argc - 2, argv + 2);
  [pool release];
  return status;
}
