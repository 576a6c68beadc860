import TestSupport
import ArchiveTestSupport
import Foundation
import KeyedArchive
import ValuePaths
import PropertyList

/// The same edits on the table of objects that Python's plistlib reads, compared as graphs.
///
/// The reference appends all objects of a value and shares nothing; so scalars and class records are
/// compared by their content, and all other objects one to one.
struct KeyPathOracle {
    enum Operation: String {
        case read, set, remove
    }

    private var jobs: [[String: Any]] = []

    var count: Int { jobs.count }

    mutating func expect(
        _ operation: Operation, _ path: ValuePath, of before: KeyedArchive,
        value: KeyedArchive? = nil, gives after: KeyedArchive
    ) {
        var job: [String: Any] = [
            "operation": operation.rawValue, "spelling": path.description,
            "path": path.steps.map { step -> Any in
                switch step {
                case .name(let name): name.string ?? ""
                case .index(let index): index
                }
            },
            "before": Data(before.bytes).base64EncodedString(),
            "after": Data(after.bytes).base64EncodedString(),
        ]
        if let value { job["value"] = Data(value.bytes).base64EncodedString() }
        jobs.append(job)
    }

    /// The differences, one line for each edit; empty if there are none.
    func differences() throws -> String {
        let input = try JSONSerialization.data(withJSONObject: jobs)
        return try Python.run(Self.program, input: Array(input)).text
    }

    private static let program = #"""
        import base64, json, plistlib, re, struct, sys
        from plistlib import UID
        sys.setrecursionlimit(20000)

        def clone(v, f=lambda u: u):
            if isinstance(v, dict): return {k: clone(x, f) for k, x in v.items()}
            if isinstance(v, list): return [clone(x, f) for x in v]
            return f(v) if isinstance(v, UID) else v

        class Archive:
            def __init__(self, data):
                self.root = clone(plistlib.loads(base64.b64decode(data)))
                self.objects, self.top = self.root["$objects"], self.root["$top"]
            def null(self, u): return u.data == 0 or self.objects[u.data] == "$null"
            def follow(self, v):
                return self.objects[v.data] if isinstance(v, UID) and not self.null(v) else v
            def name(self, o): return self.objects[o["$class"].data]["$classname"]
            def rooted(self): return list(self.top) == ["root"] and isinstance(self.top["root"], UID)

        class Elements:
            "The elements of a list, or of an object under a name, numbered or not."
            def __init__(self, holder, name=None): self.holder, self.name = holder, name
            def numbers(self):
                pattern = re.escape(self.name) + r"\.(0|[1-9][0-9]*)"
                found = {int(m[1]): k for k in self.holder if (m := re.fullmatch(pattern, k))}
                return found if sorted(found) == list(range(len(found))) else {}
            def all(self):
                if self.name is None: return list(self.holder)
                if self.name + "s" in self.holder: return list(self.holder[self.name + "s"])
                return [self.holder[k] for _, k in sorted(self.numbers().items())]
            def put(self, new):
                if self.name is None: self.holder[:] = new; return
                old = self.numbers()
                if self.name + "s" in self.holder or not old: self.holder[self.name + "s"] = new; return
                names = {k: n for n, k in old.items()}
                fields = {k: new[names[k]] if k in names else v for k, v in self.holder.items()
                          if k not in names or names[k] < len(new)}
                for n in range(len(old), len(new)): fields[f"{self.name}.{n}"] = new[n]
                self.holder.clear(); self.holder.update(fields)

        def parts(a, v, is_object):
            "What a value is, and its parts."
            if isinstance(v, list): return "list", Elements(v)
            if not is_object: return "entries", v
            kind, fields = a.name(v), set(v) - {"$class"}
            def made_of(*names):
                lists = [n + "s" for n in names]
                if fields == set(lists): return all(isinstance(v[n], list) for n in lists)
                counts = [len(Elements(v, n).numbers()) for n in names]
                return len(set(counts)) == 1 and sum(counts) == len(fields)
            if re.fullmatch("NS(Mutable)?Array", kind) and made_of("NS.object"):
                return "list", Elements(v, "NS.object")
            if re.fullmatch("NS(Mutable)?(Ordered)?Set", kind) and made_of("NS.object"):
                return "set", Elements(v, "NS.object")
            if re.fullmatch("NS(Mutable)?Dictionary", kind) and made_of("NS.key", "NS.object"):
                return "pairs", (Elements(v, "NS.key"), Elements(v, "NS.object"))
            return "fields", v

        def seat(a, path):
            "Where the last step leads: the kind of what holds it, that, the step, and what is there."
            if a.rooted(): found = ("root", a.top, "root", a.top["root"])
            else: found, kind, held = None, "top", a.top
            for step in path:
                if found and found[0] == "lists":
                    kind, held = "list", found[1]
                elif found:
                    v = found[3]
                    is_object = isinstance(v, UID)
                    kind, held = parts(a, a.follow(v), is_object)
                if kind == "pairs":
                    keys = [a.follow(k) for k in held[0].all()]
                    if step in keys: step = keys.index(step); v = held[1].all()[step]
                    elif step in ("NS.keys", "NS.objects") and not all(isinstance(k, str) for k in keys):
                        found = ("lists", held[step == "NS.objects"], None, None); continue
                    else: v = None
                elif kind in ("list", "set"):
                    if step == "NS.objects": found = ("lists", held, None, None); continue
                    values = held.all()
                    if step < 0: step += len(values)
                    v = values[step] if step < len(values) else None
                else: v = held.get(step)
                found = (kind, held, step, v)
            return found

        NUMBERS = (bool, int, float)
        def scalar(v): return v is not None and not isinstance(v, (UID, list, dict))

        def edit(a, path, operation, value):
            kind, held, step, old = seat(a, path)
            if operation == "remove":
                if kind in ("list", "set"): new = held.all(); del new[step]; held.put(new)
                elif kind == "pairs":
                    for e in held: new = e.all(); del new[step]; e.put(new)
                else: del held[step]
                return
            start = len(a.objects)
            move = lambda u: UID(0) if value.null(u) else UID(start + u.data)
            a.objects += clone(value.objects, move)
            reference = move(value.top["root"])
            plain = value.follow(value.top["root"])
            def element(before): return plain if scalar(plain) and scalar(before) else reference
            if kind == "root": held["root"] = reference
            elif kind in ("list", "set"):
                new = held.all()
                new[step:step + 1] = [element(old if step < len(new) else (new or [None])[-1])]
                held.put(new)
            elif kind == "pairs":
                new = held[1].all()
                if isinstance(step, int): new[step] = element(old)
                else:
                    a.objects.append(step)
                    held[0].put(held[0].all() + [UID(len(a.objects) - 1)])
                    new.append(element((new or [None])[-1]))
                held[1].put(new)
            elif kind == "entries":
                last = old if step in held else list(held.values() or [None])[-1]
                held[step] = element(last)
            elif isinstance(plain, NUMBERS):
                was_object = isinstance(old, UID) and isinstance(a.follow(old), NUMBERS)
                held[step] = reference if was_object else plain
            else: held[step] = plain if scalar(old) and type(old) is type(plain) else reference

        def reached(a, more=()):
            seen, stack = {0}, [v for k, v in a.root.items() if k != "$objects"] + [a.objects[0]]
            for u in more: seen.add(u); stack.append(a.objects[u])
            while stack:
                v = stack.pop()
                if isinstance(v, UID):
                    if v.data not in seen: seen.add(v.data); stack.append(a.objects[v.data])
                elif isinstance(v, (dict, list)): stack += v.values() if isinstance(v, dict) else v
            return seen

        def same(a, x, b, y, pairs):
            if type(x) is not type(y): return False
            if isinstance(x, UID):
                if a.null(x) or b.null(y): return a.null(x) and b.null(y)
                o, p = a.objects[x.data], b.objects[y.data]
                if isinstance(o, dict) and "$class" in o:
                    if (1, x.data) in pairs or (2, y.data) in pairs:
                        return pairs.get((1, x.data)) == y.data and pairs.get((2, y.data)) == x.data
                    pairs[1, x.data], pairs[2, y.data] = y.data, x.data
                return same(a, o, b, p, pairs)
            if isinstance(x, dict):
                # A value may use the record of its class that is there, in the order of that record.
                order = sorted if "$classname" in x else list
                return order(x) == order(y) and all(same(a, x[k], b, y[k], pairs) for k in x)
            if isinstance(x, list):
                return len(x) == len(y) and all(same(a, v, b, w, pairs) for v, w in zip(x, y))
            if isinstance(x, float): return struct.pack(">d", x) == struct.pack(">d", y)
            return x == y

        def check(job):
            before, after = Archive(job["before"]), Archive(job["after"])
            if job["operation"] == "read":
                kind, _, _, v = seat(before, job["path"])
                if len(reached(after)) != len(after.objects): return "has more than it needs"
                if isinstance(v, UID) and not same(before, v, after, after.top["root"], {}):
                    return "is not what is there"
                return None
            unused = [u for u in range(len(before.objects)) if u not in reached(before)]
            value = Archive(job["value"]) if "value" in job else None
            edit(before, job["path"], job["operation"], value)
            if list(before.root) != list(after.root): return "has other entries"
            pairs = {}
            for k in before.root:
                if k != "$objects" and not same(before, before.root[k], after, after.root[k], pairs):
                    return "differs under " + k
            others = [u for u in range(len(after.objects)) if u not in reached(after)]
            kept = []
            for u in unused:
                while others:
                    other, trial = others.pop(0), dict(pairs)
                    if same(before, before.objects[u], after, after.objects[other], trial):
                        pairs = trial; kept.append(other); break
                else: return "lost an object that nothing referred to"
            if len(reached(after, kept)) != len(after.objects): return "has more than it needs"

        for job in json.load(sys.stdin):
            try: problem = check(job)
            except Exception as error: problem = repr(error)
            if problem: print(job["operation"], job["spelling"], problem)
        """#
}
