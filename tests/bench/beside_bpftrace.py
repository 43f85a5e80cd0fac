#!/usr/bin/env python3
"""beside_bpftrace.py GPUFS PROBE [PROGRAMS [SEED]]: random scripts, run by gpufs and by bpftrace 0.17.

Makes programs of what both know, runs each with the same work (PROBE keys N: a call of getpgid() for
each number below N), and compares the lines that both print. The lines of a map are compared as a set:
those of equal values come in any order. Exit status 1 where one program differs, which is then printed.
"""
import difflib, os, random, subprocess, sys

CALLS = 12
KEYS = 4
TEXTS = ['', 'a', 'ab', 'abc', 'some text of thirty bytes, two']
# What bpftrace says of a program that is too much for it, or whose tuples differ in signs.
TOO_MUCH = ('stack limit', 'Error loading program', 'too many', 'unroll', 'Tuple type mismatch')


class Program:
    """The text of one program."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = 0
        body = ''.join(self.statement(0) for _ in range(8))
        self.text = (
            'BEGIN { @map[9] = 0; @text[9] = "some text of thirty bytes, two"; }\n'
            'tracepoint:syscalls:sys_enter_getpgid /comm == "bench-probe"/ {\n'
            '$v0 = (int64)args->pid; $v1 = (int64)-2; $v2 = (int64)3;\n'
            '$t0 = "some text of thirty bytes, two"; $t0 = "a";\n' + body + '}\n'
            'END { print(@map); clear(@map); }\n')

    def pick(self, *choices):
        return self.random.choice(choices)

    def leaf(self):
        loop = [f'$i{n}' for n in range(self.loops)]
        return self.pick(str(self.pick(0, 1, 2, 7, 100, 255, 4096, 65535, 0x7fffffff, 1 << 33)), '$v0', '$v1', '$v2',
                         '@map[%s]' % self.pick(*range(KEYS)), *loop)

    def binary(self, depth):
        a, b = self.number(depth - 1), self.number(depth - 1)
        op = self.pick('+', '-', '*', '&', '|', '^', '<', '<=', '>', '>=', '==', '!=', '&&', '||')
        return f'({a} {op} {b})'

    def number(self, depth):
        if depth == 0:
            return self.leaf()
        return self.pick(self.leaf, lambda: self.binary(depth), lambda: self.binary(depth), lambda: self.unary(depth),
                         lambda: self.division(depth), lambda: self.ternary(depth))()

    # What is cut becomes 64 bits at once: 0.17 computes ~ and - in as few as it was cut to.
    def unary(self, depth):
        of = self.number(depth - 1)
        return self.pick(f'(-({of}))', f'(~({of}))', f'(!({of}))', f'((uint8)({of}) + 0)', f'((int16)({of}) + 0)',
                         f'((int32)({of}) + 0)', f'((uint32)({of}) + 0)')

    # Of numbers that are not negative: 0.17 divides and shifts all as if they had no sign.
    def division(self, depth):
        a, b = self.number(depth - 1), self.number(depth - 1)
        return self.pick(f'(({a} & 65535) / (({b} & 15) + 1))', f'(({a} & 65535) % (({b} & 15) + 1))',
                         f'({a} << ({b} & 15))', f'(({a} & 65535) >> ({b} & 15))')

    def ternary(self, depth):
        return f'({self.condition(depth - 1)} ? {self.number(depth - 1)} : {self.number(depth - 1)})'

    def condition(self, depth):
        text = self.pick(*TEXTS)
        return self.pick(self.number(depth), f'$t0 == "{text}"', f'$t0 != "{text}"',
                         f'!strncmp($t0, "{text}x", {len(text) + 1})')

    def key(self):
        return f'(({self.number(1)}) & {KEYS - 1})'

    def small(self):
        return f'(({self.number(2)}) & 65535)'

    def assignment(self):
        which = self.pick(0, 1, 2)
        return self.pick(f'$v{which} = (int64)({self.number(3)});\n', f'$v{which} += {self.number(2)};\n',
                         f'$v{which}++;\n', f'$v{which} -= {self.number(1)};\n', f'$t0 = "{self.pick(*TEXTS)}";\n')

    def to_map(self):
        return self.pick(f'@map[{self.key()}] = (int64)({self.number(2)});\n', f'@map[{self.key()}]++;\n',
                         f'@map[{self.key()}] += {self.number(1)};\n', f'delete(@map[{self.key()}]);\n',
                         f'@text[{self.key()}] = $t0;\n', f'@tuple[{self.key()}, $t0] = {self.small()};\n',
                         f'@pair = ({self.small()}, {self.small()});\n')

    def aggregation(self):
        return self.pick('@n = count();\n', f'@counts[{self.key()}, $t0] = count();\n',
                         f'@sums[{self.key()}] = sum({self.small()});\n', f'@least[{self.key()}] = min({self.small()});\n',
                         f'@most[{self.key()}] = max({self.small()});\n', f'@avgs[{self.key()}] = avg({self.small()});\n',
                         f'@stats[{self.key()}] = stats({self.small()});\n', f'@hist = hist({self.small()});\n',
                         f'@hists[{self.key()}] = hist({self.small()});\n',
                         f'@lhist = lhist({self.small()}, 0, 70000, 7000);\n')

    def output(self):
        form = self.pick('%d', '%ld', '%lu', '%lx', '%5d|%-5d', '%x', '%hd', '%c')
        numbers = [self.number(2) for _ in range(form.count('%') if form != '%c' else 0)] or ['65 + (($v0) & 15)']
        return self.pick(f'printf("{form} %s\\n", {", ".join(numbers)}, $t0);\n',
                         f'printf("%-12s|%20s|\\n", $t0, $t0);\n', f'print(({self.small()}, $t0, {self.small()}));\n',
                         f'print({self.small()});\n')

    def choice(self, depth):
        return f'if ({self.condition(2)}) {{\n{self.block(depth + 1)}}} else {{\n{self.block(depth + 1)}}}\n'

    def loop(self, depth):
        if self.pick(True, False):
            return f'unroll ({self.pick(1, 2, 3)}) {{\n{self.statement(depth + 1)}}}\n'
        name, times = f'$i{self.loops}', self.pick(1, 2, 3, 5)
        self.loops += 1
        body = self.block(depth + 1)
        leave = f'if ({self.condition(1)}) {{ {self.pick("break", "continue")}; }}\n'
        self.loops -= 1
        return f'{name} = 0;\nwhile ({name} < {times}) {{\n{name}++;\n{self.pick("", leave)}{body}}}\n'

    def statement(self, depth):
        simple = [self.assignment, self.assignment, self.to_map, self.aggregation, self.output]
        nested = [lambda: self.choice(depth), lambda: self.loop(depth)] if depth < 2 else []
        return self.pick(*simple, *nested)()

    def block(self, depth):
        return ''.join(self.statement(depth) for _ in range(self.pick(1, 2)))


def run(command, script, probe):
    ended = subprocess.run(command + ['-e', script, '-c', f'{probe} keys {CALLS}'], capture_output=True, text=True,
                           errors='replace', timeout=60, env=dict(os.environ, BPFTRACE_LANGUAGE='0.17'))
    return ended.returncode, ended.stdout, ended.stderr


# The lines that count: first those that are told in order, then those of maps.
def lines(out):
    kept = [line.rstrip() for line in out.split('\n') if line.strip() and not line.startswith('Attaching ')]
    return [line for line in kept if not line.startswith('@')], sorted(line for line in kept if line.startswith('@'))


def main():
    gpufs, probe = sys.argv[1], os.path.abspath(sys.argv[2])
    programs = int(sys.argv[3]) if len(sys.argv) > 3 else 50
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    alike, refused, different = 0, 0, 0
    for seed in range(first, first + programs):
        script = Program(seed).text
        status, out, err = run(['bpftrace'], script, probe)
        if status != 0:
            refused += 1
            if not any(text in out + err for text in TOO_MUCH):
                print(f'seed {seed}: bpftrace: {err}')
            continue
        ours = run([gpufs, 'bt'], script, probe)
        if ours[0] == 0 and lines(ours[1]) == lines(out):
            alike += 1
            continue
        different += 1
        print(f'seed {seed}: different\n{script}')
        for theirs, own in zip(lines(out), lines(ours[1])):
            print('\n'.join(difflib.unified_diff(theirs, own, 'bpftrace', 'gpufs', n=0, lineterm='')))
        if ours[0] != 0:
            print(ours[2])
    print(f'{alike} programs alike, {different} different, {refused} that bpftrace does not run')
    return 1 if different else 0


if __name__ == '__main__':
    sys.exit(main())
