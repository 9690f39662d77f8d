#!/usr/bin/env python3
"""Writes tests/golden/templates/*/cases.jsonl: snippets of Jinja with what Python's jinja2 makes of them.

    python3 -m venv DIR && DIR/bin/pip install jinja2==3.1.6
    DIR/bin/python tests/golden/make_templates.py [--programs N] [--seed S] [--out DIR2]

Three kinds: every filter, test, method and operator with values of many types (the expressions that succeed are joined,
twenty to a line; of those that fail some have a line each), snippets written by hand (tests/golden/templates/written.txt), and
random programs, most of which fail somewhere. Larger sets for a search for differences are had with --programs and --out.
"""
import argparse
import datetime
import json
import pathlib
import random
import re
import signal
import zlib

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = pathlib.Path(__file__).resolve().parent / "templates"
CONTEXT = {
    "xs": [3, 1, 2], "ws": ["apple", "Banana", "cherry"], "s": "Hello, World", "n": 7, "f": 2.5, "t": True, "z": None,
    "e": "", "l": [], "u": "héllo 세계 😀", "d": {"b": 2, "a": 1, "C": [1, 2.5, None, True], "d": {"x": "y"}},
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": " Hi \n"},
                 {"role": "assistant", "content": None}, {"role": "user", "content": "Bye", "n": 3}],
    "big": 123456789012345678901234567890,
}
VALUES = """none|true|0|-3|12345|2.5|1e16|10**30|''|'Hello World foo-bar'|'  a b  '|'12'|'-3.7'|'ÄÖ ß ǆ ΑΣ'|'<b>&"'
    |('<i>x'|safe)|'a\\nb\\r\\nc'|[]|[3,1,2]|['b','A','c','a']|[1,'a',none]|()|('x',)|{'a':1,'B':2}|{1:'x','k':[1]}|range(3)
    |nope|{'a':1}.items()|{'a':1,'b':2}.keys()|[[1,2],[3,4]]|[{'n':'b','v':1},{'n':'A','v':2},{'n':'a','v':3}]
    |namespace(a=1)"""
FILTERS = {
    "abs": "", "attr": "('a')|('upper')|(1)", "batch": "(2)|(2,'x')|(0)", "capitalize": "", "center": "(8)|(width=7)|(none)",
    "count": "", "d": "('x')|('x',true)|(default_value='q',boolean=true)", "default": "", "dictsort":
    "|(true)|(by='value')|(false,'key',true)|(by='z')", "e": "", "escape": "", "filesizeformat": "|(true)", "first": "",
    "float": "|(1)", "forceescape": "", "format": "|(1)|(1,2)|(a=1)", "groupby":
    "('n')|('v')|('n',default='z')|('n',case_sensitive=true)", "indent": "|(2)|(first=true)|(2,true,true)|('>>')",
    "int": "|(5)|(0,16)|(default='q')", "items": "", "join": "|(', ')|('-',attribute='n')|(1)", "last": "", "length": "",
    "list": "", "lower": "", "map": "('upper')|(attribute='n')|(attribute='n',default='D')|('default','x')|('nofilter')|",
    "max": "|(true)|(attribute='v')", "min": "|(attribute='n')", "pprint": "", "reject": "|('odd')|('in',[1,'a'])",
    "rejectattr": "('n')|('v','gt',1)|", "replace": "('a','X')|('','-')|('o','',count=1)|('a')", "reverse": "",
    "round": "|(1)|(2,'ceil')|(0,'floor')|(-1)|(none)", "safe": "", "select": "|('string')|('lt',2)|('nope')",
    "selectattr": "('v','odd')|('n','in','ab')|('zz','defined')", "slice": "(2)|(3,'x')|(0)", "sort":
    "|(true)|(case_sensitive=true)|(attribute='n')|(attribute='n,v')", "string": "", "striptags": "", "sum":
    "|(attribute='v')|(start=10)|(start=[])", "title": "", "trim": "|('a ')|(none)|(1)", "truncate":
    "(5)|(5,true)|(6,true,'..')|(3,leeway=0)|(1)", "unique": "|(true)|(attribute='n')", "upper": "", "urlencode": "",
    "urlize": "|(10)", "wordcount": "", "wordwrap": "(5)|(3,false)|(6,wrapstring='|')|(0)", "xmlattr": "|(false)", "tojson":
    "|(indent=2)|(sort_keys=true)|(separators=(',',':'))|(ensure_ascii=true)|(indent='-')|(2)",
}
TESTS = """odd|even|divisibleby(2)|defined|undefined|none|boolean|true|false|integer|float|lower|upper|string|mapping|number
    |sequence|iterable|callable|sameas(none)|escaped|in([1,'a'])|in('abc')|eq('a')|ne(none)|gt(1)|le([1])|filter|test|nope"""
SUBJECTS = "''|'Hello World foo-bar'|'  a,b  '|'12'|'ÄÖ ß ǆ ŉ ﬁ ΑΣ Σ'|'a\\nb\\r\\nc\\u2028d'|'½²٣'|('<i>x</i>'|safe)|'\\t a\\tb'|'{} {a}'"
METHODS = {
    "capitalize": "()", "casefold": "()", "center": "(9)|(9,'*')|(8,'ab')", "count": "('a')|('')|('b',0,-1)|(1)", "encode": "()",
    "endswith": "('c')|(('a','c'))|('b',0,2)|(1)", "expandtabs": "()|(2)", "find": "('b')|('a',1)|('',99)|('l',none,3)",
    "format": "()|(1,a=2)", "format_map": "({'a':1})", "index": "('b')", "isalnum": "()", "isalpha": "()", "isascii": "()",
    "isdecimal": "()", "isdigit": "()", "isidentifier": "()", "islower": "()", "isnumeric": "()", "isprintable": "()",
    "isspace": "()", "istitle": "()", "isupper": "()", "join": "(['a','b'])|([1])|('xyz')|(['<',nope])", "ljust": "(9,'-')",
    "lower": "()", "lstrip": "()|('a ')", "partition": "(' ')|('')", "removeprefix": "('H')", "removesuffix": "('c')",
    "replace": "('a','b')|('','.')|('b','BB',1)|('a',1)", "rfind": "('b')|('o',0,6)", "rindex": "('b')", "rjust": "(9,'é')",
    "rpartition": "(' ')", "rsplit": "()|(' ')|(none,1)", "rstrip": "()", "split": "()|(' ')|(',',1)|(none,1)|('')|(1)",
    "splitlines": "()|(true)", "startswith": "('a')|('e',1)|(('z','H'))", "strip": "()|(' a')", "swapcase": "()", "title": "()",
    "translate": "({97:'X',98:none})", "upper": "()", "zfill": "(6)", "nosuch": "()", "__len__": "()",
}
OPERATORS = "+|-|*|/|//|%|**|~|==|!=|<|>=|in|not in|and|or"
OPERANDS = "none|true|7|-3|2.5|10**20|'a'|''|'ab%s'|[1,2]|('x',1)|{'a':1}|nope|('<i>'|safe)|range(3)|namespace(a=1)"
FORMATS = """{}|{a}|{!r}|{:5}|{:<5}_|{:^5}_|{:*^7}|{:05}|{:+}|{:,}|{:_}|{:d}|{:#x}|{:X}|{:o}|{:b}|{:c}|{:e}|{:.2f}|{:10.3f}|{:g}
    |{:.3g}|{:%}|{:.1%}|{:s}|{:.2s}|{:.3}|{:010,}|{:015,.2f}|{:=+8}|{!s:>6}|{0[0]}|{0.a}|{:{}}|{|}|{{}}|{!x}|{:#.3g}|{!a}|{:>{w}}"""
FORMATTED = "0|-3|12345|2.5|-0.0|1e300|10**25|true|none|'é'|[1,2]|{'a':5}|nope|1234.5678|65|1e-7"
PERCENTS = """%s|%d|%5d_|%-5d_|%05d|%+d|% d|%x|%#x|%o|%e|%.2f|%8.3f|%g|%c|%r|%a|%%|%5s_|%.2s|%(a)s|%*d|%.3d|%q|%|%s %s|%5%|%-06d"""
KEEP_ONE_FAILURE_IN = 12
NOT_STABLE = re.compile(r"0x[0-9a-f]{8,}|<generator|<built-in|<bound|<function|<class|object at|iterator object|<Cycler|<map")


class Generation(Extension):
    """{% generation %} as the transformers library has it."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_say"), [], [], body).set_lineno(line)

    def _say(self, caller):
        return caller()


def make_environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda format: datetime.datetime(2024, 7, 26, 12, 34, 56).strftime(format)
    return env


class Late(Exception):
    pass


def on_alarm(signum, frame):
    raise Late()


def render(env, template, context):
    """The members of a case that tell the result, or None where it cannot be repeated."""
    signal.setitimer(signal.ITIMER_REAL, 2)
    try:
        text = env.from_string(template).render(**json.loads(json.dumps(context)))
        text.encode()
        return None if NOT_STABLE.search(text) else {"expected": text}
    except (Late, MemoryError, RecursionError, UnicodeEncodeError):
        return None
    except Exception as e:  # whatever Python raises: what counts is that rendering fails
        raised = type(e) is jinja2.exceptions.TemplateError
        return {"error": str(e) if raised else f"{type(e).__name__}: {e}"[:120],
                "error_kind": "raise_exception" if raised else "runtime"}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def parts(text):
    """The pieces between `|` that stand outside brackets and quotes."""
    out, depth, quote, piece = [], 0, "", ""
    for c in " ".join(text.split("\n")):
        if c == "|" and depth == 0 and not quote:
            out.append(piece.strip())
            piece = ""
            continue
        quote = "" if c == quote else quote or (c if c in "'\"" else "")
        depth += 0 if quote else (c in "([") - (c in ")]")
        piece += c
    return out + [piece.strip()]


def expressions():
    """(folder, expression) of the systematic part."""
    for name, forms in FILTERS.items():
        for args in parts(forms):
            for value in parts(VALUES):
                lazy = name in ("map", "select", "reject", "selectattr", "rejectattr", "batch", "slice", "unique", "items")
                yield "filters", f"({value})|{name}{args}" + ("|list" if lazy or name == "reverse" else "")
    for test in parts(TESTS):
        yield from (("tests", f"({value}) is {test}") for value in parts(VALUES))
    for name, forms in METHODS.items():
        for args in parts(forms):
            yield from (("methods", f"({value}).{name}{args}") for value in parts(SUBJECTS))
    for operator in parts(OPERATORS):
        for a in parts(OPERANDS):
            for b in parts(OPERANDS):
                # Powers of negative numbers may be complex, which is not supported.
                if not (operator in ("*", "**") and ("10**20" in (a, b) or (operator == "**" and a == "-3"))):
                    yield "operators", f"({a}) {operator} ({b})"
    for text in FORMATS.replace("\n", "").replace("    ", "").split("|"):
        yield from (("formats", f"{json.dumps(text)}.format({v}, 7, a={v}, w=6)") for v in parts(FORMATTED))
    for text in PERCENTS.split("|"):
        yield from (("formats", f"{json.dumps(text)} % ({v})") for v in parts(FORMATTED))
    for letter in "aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%f":
        yield "formats", f"strftime_now('%{letter} %-{letter}')"
    for value in parts(VALUES):
        for form in ("{0}", "-({0})", "not ({0})", "[{0}]", "({0})[0]", "({0})[-1]", "({0})['a']", "({0}).a", "({0})[1:]",
                     "({0})[::-1]", "({0})[-2:5:2]", "dict({0})", "namespace({0})", "1 < ({0}) <= 3", "({0})()", "({0}) ~ 1"):
            yield "values", form.format(value)


def systematic_cases(env):
    cases = {}
    joined = {}
    for folder, expression in dict.fromkeys(expressions()):
        result = render(env, "{{ " + expression + " }}", {})
        if result and "expected" in result:
            joined.setdefault(folder, []).append((expression, result["expected"]))
        elif result and zlib.crc32(expression.encode()) % KEEP_ONE_FAILURE_IN == 0:
            cases.setdefault(folder, []).append(("{{ " + expression + " }}", {}, result))
    for folder, pairs in joined.items():
        for i in range(0, len(pairs), 20):
            some = pairs[i:i + 20]
            template = "\u241f".join("{{ " + e + " }}" for e, _ in some)
            cases.setdefault(folder, []).append((template, {}, {"expected": "\u241f".join(x for _, x in some)}))
    return cases


def written_cases(env):
    """Snippets of written.txt, which are divided by lines of dashes."""
    out = []
    for template in (HERE / "written.txt").read_text().split("\n----\n"):
        result = render(env, template, CONTEXT)
        if result:
            out.append((template, CONTEXT, result))
    return out


class Programs:
    """Random templates. They make little sense, but use everything in everything."""
    NAMES = "a b x y n s xs d m loop q".split()
    ATOMS = """loop.index loop.last loop.first loop.length loop.previtem loop.nextitem loop.index0 loop.revindex loop.depth
        loop.cycle('p','q') loop.changed(x) ns.v varargs kwargs caller() loop(xs) f(1) g(x) f(a=2) f() joiner()() messages ws
        d.items() range(3) s e z u messages[0].role messages[-1]['content'] d.C[1] 1 2 0 'k' 2.5 true none [] {} -1""".split()
    ENDINGS = """|length |upper |trim |list |first |last |string |join(',') |default('D') |tojson |sort |reverse|list |unique|list
        |map(attribute='role')|list |selectattr('role','equalto','user')|list |map('string')|join |int |replace('a','b')
        |select|list |e |safe |title |batch(2)|list |max |sum |abs |items|list |nofilter .a .role .content .items .x .0 .keys()
        .upper() .split() .d [0] [-1] ['a'] ['role'] [:1] [1:] [::-1] [::2] (x)""".split()
    TESTED = "defined none string odd iterable mapping number undefined sequence true notest".split() + ["in [1,'k']", "eq 1"]
    TEXTS = ["", " ", "\n", "T", " a ", "\n  ", "x\n", "  \n", "\t", "{# c #}", "{#- c -#}", "\n{# c #}\n", "é", "{", "%}", "}}",
             "#", "\r\n", "{% raw %} {{ r }} {% endraw %}", "\n  {%- raw %} q {% endraw -%}\n "]
    BROKEN = ["{% if %}", "{% endfor %}", "{% foo %}", "{{", "{{ ]", "{%", "{% include 'x' %}", "{{ 1 2 }}", "{% print x, 1 %}",
              "{% set = 1 %}", "{{ a.b.c( }}", "{{ 'abc }}", "{% set loop = 1 %}", "{{ '\\x4' }}", "{{ x.|y }}"]

    def __init__(self, seed):
        self.r = random.Random(seed)

    def pick(self, *items):
        return self.r.choice(items)

    def tag(self, body):
        sign = ("", "", "", "-", "-", "+")
        return "{%" + self.pick(*sign) + " " + body + " " + self.pick(*sign) + "%}"

    def atom(self, depth):
        kind = self.r.random()
        if kind < 0.4 or depth <= 0:
            return self.pick(self.pick(*self.NAMES), self.pick(*self.ATOMS))
        inner = ", ".join(self.expression(depth - 1) for _ in range(self.r.randint(0, 3)))
        return self.pick("[" + inner + "]", "(" + inner + ")", "{'a': " + self.expression(depth - 1) + "}",
                         self.pick(*self.ATOMS))

    def expression(self, depth=2):
        kind = self.r.random()
        if depth <= 0 or kind < 0.55:
            text = self.atom(depth) + "".join(self.pick(*self.ENDINGS) for _ in range(self.pick(0, 0, 0, 1, 1, 2)))
            return text + (" is " + self.pick("", "not ") + self.pick(*self.TESTED) if self.r.random() < 0.15 else "")
        a, b, c = (self.expression(depth - 1) for _ in range(3))
        return self.pick(*(f"{a} {op} {b}" for op in parts(OPERATORS)), "not " + a, "-" + a, f"{a} if {b} else {c}",
                         f"{a} if {b}", f"{a} < {b} <= {c}", f"({a})")

    def body(self, depth):
        return "".join(self.pick(self.pick(*self.TEXTS), self.statement(depth - 1)) for _ in range(self.r.randint(1, 3)))

    def loop(self, depth):
        over = self.pick("xs", "messages", "ws", "d.items()", "range(3)", "[[1,2],[3,4]]", "xs|map('string')", "'ab'",
                         self.expression(1))
        text = self.tag("for " + self.pick("x", "a", "m", "a, b") + " in " + over +
                        self.pick("", "", "", "", " if " + self.expression(1), " recursive", " if x")) + self.body(depth)
        if self.r.random() < 0.2:
            text += self.tag("if " + self.expression(1)) + self.tag(self.pick("break", "continue")) + self.tag("endif")
        text += self.body(depth) + (self.tag("else") + self.body(depth) if self.r.random() < 0.2 else "")
        return text + self.tag("endfor")

    def condition(self, depth):
        text = self.tag("if " + self.expression(1)) + self.body(depth)
        text += self.tag("elif " + self.expression(1)) + self.body(depth) if self.r.random() < 0.3 else ""
        text += self.tag("else") + self.body(depth) if self.r.random() < 0.4 else ""
        return text + self.tag("endif")

    def block(self, depth):
        name = self.pick(*self.NAMES)
        opening, closing = self.pick(
            ("set " + name + self.pick("", " | upper", " | trim | length"), "endset"),
            ("macro " + self.pick("f", "g") + "(" + self.pick("", "a", "a, b=1", "x, y=x", "caller=none") + ")", "endmacro"),
            ("call" + self.pick("", " (x)", "(a, b=2)") + " " + self.pick("f()", "g(1)", "f(x)", "f"), "endcall"),
            ("filter " + self.pick("upper", "trim", "length", "replace('a', x)"), "endfilter"),
            ("with " + self.pick("", "x = 1", "a = x, b = a"), "endwith"), ("generation", "endgeneration"),
            ("autoescape " + self.pick("true", "false", "x"), "endautoescape"),
            ("block " + self.pick("bb", "cc") + self.pick("", " scoped"), "endblock"))
        return self.tag(opening) + self.body(depth) + self.tag(closing)

    def statement(self, depth=3):
        kind = self.r.random()
        if depth <= 0 or kind < 0.3:
            return "{{" + self.pick("", "", "-") + " " + self.expression() + " " + self.pick("", "", "-") + "}}"
        if kind < 0.42:
            target = self.pick(self.pick(*self.NAMES), "ns.v", "a, b")
            return self.tag("set " + target + " = " + self.pick(self.expression(), self.expression(1) + ", 1"))
        if kind < 0.56:
            return self.condition(depth)
        if kind < 0.76:
            return self.loop(depth)
        return self.block(depth) if kind < 0.985 else self.pick(*self.BROKEN)

    def template(self):
        head = self.pick("", "{% set ns = namespace(v=1) %}",
                         "{% macro f(a) %}[{{ a }}{{ caller() if caller else '' }}]{% endmacro %}",
                         "{% macro g(x, y=3) %}<{{ x }}{{ y }}{{ varargs }}{{ kwargs }}>{% endmacro %}")
        return head + "".join(self.pick(self.pick(*self.TEXTS), self.statement(), self.statement())
                              for _ in range(self.r.randint(1, 4)))


def program_cases(env, n, seed):
    programs = Programs(seed)
    out = []
    while len(out) < n:
        template = programs.template()
        result = render(env, template, CONTEXT)
        # A program that fails at once says little: keep one in six.
        if result and ("expected" in result or programs.r.random() < 0.16):
            out.append((template, CONTEXT, result))
    return out


def write(folder, cases):
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "cases.jsonl").open("w") as lines:
        for i, (template, context, result) in enumerate(cases):
            used = {name: context[name] for name in context if re.search(rf"\b{name}\b", template)}
            lines.write(json.dumps({"name": str(i + 1), "template": template, "context": used, **result}) + "\n")
    print(f"{folder.name}: {len(cases)} cases")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, on_alarm)
    env = make_environment()
    for folder, cases in systematic_cases(env).items():
        write(options.out / folder, cases)
    write(options.out / "written", written_cases(env))
    write(options.out / "programs", program_cases(env, options.programs, options.seed))


if __name__ == "__main__":
    main()
