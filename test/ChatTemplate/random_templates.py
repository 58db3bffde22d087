"""Random templates: expressions, statements and white space."""

import random

TEXTS = [
    "", "a", "abc", "Hello World", " x y ", "a,b,,c", "line1\nline2\r\nend", "ÄÖ straße", "日本 語", "{}", "<b>&'\"",
    "a.b.c", "12", "-3.5", "0x1f", "%s and %d", "{0} {name!r:>5}", "tool_call", "ABC def", "\t tab", "ǆ ﬁn İ Σας",
]
NAMES = ["n", "i", "f", "b", "z", "s", "t", "u", "xs", "ys", "d", "m", "messages", "missing", "nested", "e", "big"]
VARIABLES = {
    "n": None, "i": 7, "f": 2.5, "b": True, "z": 0, "s": "Hello, World", "t": "  padded\n", "u": "Ünï 日本 🦙",
    "xs": [3, 1, 2, 1], "ys": ["b", "A", "c", ""], "d": {"b": 1, "a": [1, 2], "items": "x", "k-e": None},
    "m": {"role": "user", "content": "hi <there>"},
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi\n", "n": 3},
        {"role": "assistant", "content": None, "tool_calls": [{"name": "f", "arguments": {"x": 1.5, "y": [True, None]}}]},
    ],
    "nested": [[1, [2, "x"]], {"p": {"q": [1e16, 1.0, 1e-7]}}, ()],
    "e": [], "big": 18446744073709551615,
}

FILTERS = [
    "abs", "attr('x')", "attr('upper')", "batch(2)|list", "batch(2, 0)|list", "capitalize", "center(9)", "count", "d('D')",
    "default('D', true)", "dictsort", "dictsort(by='value')", "dictsort(reverse=true)", "e", "escape", "filesizeformat",
    "filesizeformat(true)", "first", "float", "float(1.5)", "forceescape", "format(1, 2)", "groupby('role')|list", "indent",
    "indent(2, true)", "indent(width='> ', blank=true)", "int", "int(-1)", "int(base=16)", "items|list", "join", "join(', ')",
    "join('-', attribute='role')", "last", "length", "list", "lower", "map('upper')|list", "map(attribute='role')|list",
    "map(attribute='x', default='-')|join", "map('length')|list", "max", "min", "max(attribute='n')", "reject('none')|list",
    "reject|list", "rejectattr('content')|list", "replace('a', 'X')", "replace('l', '', 1)", "replace('', '-')", "reverse|list",
    "reverse", "round", "round(1)", "round(-1)", "round(1, 'ceil')", "round(0, 'floor')", "safe", "select|list",
    "select('string')|list", "select('gt', 1)|list", "selectattr('role', 'equalto', 'user')|list", "selectattr('n')|list",
    "slice(2)|list", "slice(3, 'f')|list", "sort", "sort(reverse=true)", "sort(case_sensitive=true)", "sort(attribute='role')",
    "string", "striptags", "sum", "sum(start=5)", "title", "tojson", "tojson(indent=2)", "tojson(ensure_ascii=true)",
    "tojson(separators=(',', ':'))", "tojson(sort_keys=true)", "tojson(indent='\\t')", "trim", "trim('H')", "truncate(5)",
    "truncate(7, true, '~')", "truncate(5, leeway=0)", "unique|list", "upper", "urlencode", "wordcount", "xmlattr", "nope",
    "tojson|length", "map('int')|sum", "first|upper", "last|tojson",
]
TESTS = [
    "defined", "undefined", "none", "boolean", "true", "false", "integer", "float", "number", "string", "mapping", "sequence",
    "iterable", "callable", "odd", "even", "divisibleby(2)", "divisibleby 3", "eq(1)", "ne 1", "gt(1)", "lt(2)", "ge(1)",
    "le(3)", "in([1, 2])", "in 'abc'", "lower", "upper", "sameas(none)", "escaped", "filter", "test", "equalto('a')", "nope",
    "==(1)",
]
METHODS = [
    "upper()", "lower()", "title()", "capitalize()", "swapcase()", "casefold()", "strip()", "strip('Hd ')", "lstrip()",
    "rstrip('\\n')", "split()", "split(',')", "split(',', 1)", "split(none, 1)", "rsplit(maxsplit=1)", "rsplit(',', 1)",
    "splitlines()", "splitlines(true)", "startswith('H')", "startswith(('a', 'H'))", "endswith('d', 2)", "find('o')",
    "find('o', 5)", "find('', 3)", "rfind('l')", "index('o')", "index(1)", "count('l')", "count(1)", "replace('o', '0')",
    "replace('o', '0', 1)", "join(['a', 'b'])", "join(ys)", "center(15, '*')", "ljust(15)", "rjust(15, '日')", "zfill(10)",
    "partition(',')", "rpartition('o')", "isalpha()", "isdigit()", "isupper()", "islower()", "istitle()", "isspace()",
    "isalnum()", "isnumeric()", "isidentifier()", "isprintable()", "expandtabs(4)", "removeprefix('He')", "removesuffix('d')",
    "format(1, name='n')", "format(*xs)", "get('a')", "get('zz', 4)", "items()", "keys()", "values()", "items()|list",
    "keys()|list", "values()|list", "copy()", "append(1)", "update({})", "pop()", "pop('a')", "bit_length()", "is_integer()",
    "role", "content", "a", "b.c", "tool_calls", "__class__", "_x", "real", "translate({72: 'J'})", "clear()", "items",
]
BINARY = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in", "not in"]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, choices):
        return self.random.choice(choices)

    def literal(self):
        kind = self.random.randrange(11)
        if kind == 0:
            return str(self.pick([0, 1, 2, 3, 7, 10, 255, 1000, 2**40, 2**63 - 1, 2**64, 10**20]))
        if kind == 1:
            return repr(self.pick([0.0, 0.1, 1.0, 2.5, 1e16, 1e-5, 123456.789, 1e22, 0.5, 1.15]))
        if kind == 2:
            return self.pick(["true", "false", "none", "True", "None"])
        if kind == 3:
            return "[" + ", ".join(self.expression(1) for _ in range(self.random.randrange(4))) + "]"
        if kind == 4:
            return "{" + ", ".join(f"{self.quoted()}: {self.expression(1)}" for _ in range(self.random.randrange(3))) + "}"
        if kind == 5:
            return "(" + ", ".join(self.expression(1) for _ in range(2)) + self.pick(["", ","]) + ")"
        if kind == 6:
            return f"range({self.pick(['0', '3', '5', '1, 4', '5, 0, -2', 'i'])})"
        return self.quoted()

    def quoted(self):
        text = self.pick(TEXTS)
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r") + "'"

    def primary(self, depth):
        if depth > 0 and self.random.random() < 0.2:
            return "(" + self.expression(depth - 1) + ")"
        return self.pick(NAMES) if self.random.random() < 0.6 else self.literal()

    def subscript(self, text):
        # Jinja computes constant expressions in other ways, which differ for slices of what has none.
        may_slice = text.split(".")[0].split("[")[0] in NAMES
        return self.pick(
            ["[0]", "[-1]", "[100]", "['a']", "['role']", "[i]", "[none]", "[1.0]", "['upper']", "[b]", "[s]"]
            + ["[1:]", "[:2]", "[::-1]", "[-2:]", "[:-1]", "[::2]", "[5:1:-2]", "[:n]", "[-100:100]"] * may_slice)

    def postfix(self, text):
        choice = self.random.random()
        if choice < 0.35:
            return text + "." + self.pick(METHODS)
        if choice < 0.55:
            return text + self.subscript(text)
        if choice < 0.85:
            return text + "|" + self.pick(FILTERS)
        return "(" + text + " is " + self.pick(["", "", "not "]) + self.pick(TESTS) + ")"

    def expression(self, depth=3):
        text = self.primary(depth)
        for _ in range(self.random.choice([0, 0, 1, 1, 2])):
            text = self.postfix(text)
        if depth > 0:
            choice = self.random.random()
            if choice < 0.3:
                operator = self.pick(BINARY)
                right = self.expression(depth - 1)
                if operator == "**":
                    right = self.pick(["2", "3", "0", "-1", "0.5", "z"])
                if operator == "*" and "\n" not in right:
                    right = self.pick(["2", "0", "-1", "1.5", "i", "xs", "s", "b"])
                text = f"{text} {operator} {right}"
            elif choice < 0.36:
                text = "not " + text
            elif choice < 0.4:
                text = "-" + text
            elif choice < 0.46:
                text = f"{text} if {self.expression(depth - 1)}"
                if self.random.random() < 0.7:
                    text += f" else {self.expression(depth - 1)}"
        return text

    def tag(self, text):
        return "{%" + self.pick(["", "", "", "-", "+"]) + " " + text + " " + self.pick(["", "", "", "-", "+"]) + "%}"

    def space(self):
        return self.pick(["", "", " ", "\n", "  \n", "\n  ", " x ", "\n\n", "y\n", "\t", "\r\n", "{# c #}", "{#- c -#}\n"])

    def output(self):
        return ("{{" + self.pick(["", "", "-"]) + " " + self.expression() + " " + self.pick(["", "", "-"]) + "}}")

    def target(self):
        return self.pick(["v", "w", "s", "x", "ns.a", "a, c", "i", "loop", "xs"])

    def body(self, depth):
        parts = []
        for _ in range(self.random.randrange(1, 4)):
            parts += [self.space(), self.statement(depth), self.space()]
        return "".join(parts)

    def loop_value(self):
        return self.pick(["v", "w", "x", "a", "loop.index", "loop.last", "loop.first", "loop.length", "loop.revindex",
                          "loop.previtem", "loop.nextitem|default('-')", "loop.cycle('o', 'e')", "loop.changed(v)", "ns.a",
                          "loop.depth", "caller()", "varargs", "kwargs", "k(1)", "k(2, y=3)", "k()", "loop(xs)"])

    def statement(self, depth):
        choice = self.random.randrange(15 if depth > 0 else 4)
        tag = self.tag
        if choice < 2:
            return self.output()
        if choice == 2:
            return "{{ " + self.loop_value() + " }}"
        if choice == 3:
            return tag(f"set {self.target()} = {self.expression(2)}")
        if choice in (4, 5):
            head = f"for {self.pick(['v', 'v', 'v, w', 'x'])} in {self.pick([self.expression(1), 'xs', 'messages', 'd.items()'])}"
            if self.random.random() < 0.2:
                head += f" if {self.expression(1)}"
            if self.random.random() < 0.1:
                head += " recursive"
            middle = tag("else") + self.body(depth - 1) if self.random.random() < 0.2 else ""
            return tag(head) + self.body(depth - 1) + middle + tag("endfor")
        if choice in (6, 7):
            text = tag(f"if {self.expression(2)}") + self.body(depth - 1)
            if self.random.random() < 0.3:
                text += tag(f"elif {self.expression(1)}") + self.body(depth - 1)
            if self.random.random() < 0.5:
                text += tag("else") + self.body(depth - 1)
            return text + tag("endif")
        if choice == 8:
            return tag(f"set {self.pick(['v', 'x', 'ns.a'])}{self.pick(['', ' | upper', ' | trim | length'])}") + self.body(
                depth - 1) + tag("endset")
        if choice == 9:
            return tag(f"macro k({self.pick(['', 'x', 'x, y=2', 'x=1, y=x', 'v=s'])})") + self.body(depth - 1) + tag("endmacro")
        if choice == 10:
            return tag(f"call{self.pick(['', '(x)', '(x=3)'])} k({self.pick(['', '1', 'y=2', '1, 2, 3'])})") + self.body(
                depth - 1) + tag("endcall")
        if choice == 11:
            return tag(f"filter {self.pick(['upper', 'trim', 'indent(2)', 'replace(s, x)', 'length'])}") + self.body(
                depth - 1) + tag("endfilter")
        if choice == 12:
            return tag(f"with {self.pick(['v = 1', 'x = s, w = x', 'v = v'])}") + self.body(depth - 1) + tag("endwith")
        if choice == 13:
            return tag("generation") + self.body(depth - 1) + tag("endgeneration")
        return self.pick([tag("break"), tag("continue"), tag("raw") + "{{ x }}" + tag("endraw"),
                          tag(f"block q{self.random.randrange(9)}{self.pick(['', ' scoped'])}") + self.body(depth - 1) + tag("endblock")])

    def template(self):
        head = "{% set ns = namespace(a=0) %}" if self.random.random() < 0.7 else ""
        if self.random.random() < 0.5:
            return "{{ " + self.expression() + " }}"
        return head + self.body(3) + self.body(2)


def variables_of(template, seed):
    """A part of the variables, so that some are missing."""
    chooser = random.Random(seed)
    names = dict(VARIABLES)
    if chooser.random() < 0.3:
        names["v"] = "V"
        names["x"] = "X"
    return names
