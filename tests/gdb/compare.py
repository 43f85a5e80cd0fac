#!/usr/bin/env python3
"""Compares the variables at lines of a program as gpufs and as gdb see them.

usage: compare.py GPUFS MOST PROGRAM [ARGUMENT...]

The program is linked for one place, has debug information, and does the same each time. At random
lines, up to some MOST pairs of a line that is run and a variable, the variable's value at the first time
that the line's code is run is compared; or both say that it is not there. gpufs reads twice: by
tracefs, in the records of a probe, and by BPF programs, which can also compute. What gpufs says that it
cannot read is summed apart. Prints what differs, and the sums. Exit status 1 where something differs,
where programs read less than tracefs, or where fewer than a tenth of the pairs are equal.
"""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SEED = 1
EVENTS_AT_ONCE = 100
TEXT_BYTES = 48
MOST_IN_RECORD = 10  # variables: a program has 512 bytes


def lines_of(program):
    """All lines with code: (file name, line), in random order."""
    text = subprocess.run(["objdump", "--dwarf=decodedline", program], check=True, text=True,
                          capture_output=True).stdout
    found = set(re.findall(r"^(\S+\.c)\s+(\d+)\s+0x\w+.*\sx$", text, re.M))
    lines = sorted((name, int(line)) for name, line in found)
    random.Random(SEED).shuffle(lines)
    return lines


def variables_at(gpufs, program, place):
    """What gpufs knows there, by address."""
    told = subprocess.run([gpufs, "probe", "vars", "--json", "-x", program, place], check=False,
                          text=True, capture_output=True)
    if told.returncode != 0:
        sys.exit(told.stderr)
    by_address = collections.defaultdict(list)
    for line in told.stdout.splitlines():
        variable = json.loads(line)
        by_address[variable["address"]].append(variable)
    return by_address


def is_text(variable):
    return bool(variable["fetch"]) and variable["fetch"].endswith("string")


def values_by_gdb(program, arguments, wanted, directory):
    names = {"WANTED": os.path.join(directory, "wanted"), "TOLD": os.path.join(directory, "told")}
    with open(names["WANTED"], "w", encoding="utf-8") as file:
        for address, listed in wanted.items():
            place = {"address": address,
                     "names": [[one["name"], is_text(one)] for one in listed]}
            file.write(json.dumps(place) + "\n")
    subprocess.run(["gdb", "-nx", "-batch", "-ex", "unset environment", "-ex",
                    "set startup-with-shell off", "-ex", "set debuginfod enabled off", "-x",
                    os.path.join(HERE, "values.py"), "--args", program, *arguments],
                   check=True, env={**os.environ, **names}, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with open(names["TOLD"], encoding="utf-8") as file:
        return {told["address"]: told for told in map(json.loads, file)}


def file_offset(program, address):
    text = subprocess.run(["readelf", "-lW", program], check=True, text=True,
                          capture_output=True).stdout
    for segment in re.findall(r"^\s+LOAD\s+(0x\w+) (0x\w+) 0x\w+ (0x\w+)", text, re.M):
        offset, begin, size = (int(number, 16) for number in segment)
        if begin <= address < begin + size:
            return hex(address - begin + offset)
    raise ValueError(f"{address:#x} is in no segment")


def values_by_gpufs(gpufs, program, arguments, wanted, directory):
    """By address, the values at its first record."""
    session = f"gdb{os.getpid()}"
    recording = os.path.join(directory, "recording")
    first = {}
    addresses = list(wanted)
    for begin in range(0, len(addresses), EVENTS_AT_ONCE):
        events = {}
        try:
            for address in addresses[begin:begin + EVENTS_AT_ONCE]:
                fetched = [f"v{i}={one['fetch']}" for i, one in enumerate(wanted[address])
                           if one["fetch"]]
                if not fetched:
                    continue
                place = f"{program}:{file_offset(program, int(address, 16))}"
                made = subprocess.run([gpufs, "probe", "add", "--session", session,
                                       f"p:at_{address} {place} {' '.join(fetched)}"], check=True,
                                      text=True, capture_output=True)
                events[made.stderr.partition(": ")[0]] = address
            chosen = [word for event in events for word in ("-e", event)]
            subprocess.run([gpufs, "record", *chosen, "-o", recording, "--", "setarch", "-R", "env",
                            "-i", program, *arguments], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            told = subprocess.run([gpufs, "report", "--json", recording], check=True, text=True,
                                  capture_output=True).stdout
        finally:
            subprocess.run([gpufs, "reset", "--session", session], check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for line in told.splitlines():
            record = json.loads(line)
            address = events.get(record.get("event"))
            if address:
                first.setdefault(address, record)
    return first


def type_in_record(variable):
    kind = variable["program"].rpartition(":")[2]
    return f"str{TEXT_BYTES}" if kind == "string" else kind.replace("x", "u")


def program_text(program, address, number, listed):
    """Records, and a program that sends one at the first hit."""
    name = f"at{number}"
    members = ", ".join(f"v{i} {type_in_record(one)}" for i, one in listed)
    place = f"{program}:{file_offset(program, int(address, 16))}"
    lines = [f".record {name} {{ {members} }}", f".stack s{number} {{ out {name} }}",
             f".global g{number} {{ was_here u32 }}", f".prog p{number} uprobe {place}",
             f"    r1 = map[g{number}][0]+g{number}.was_here", "    r2 = *(u32 *)(r1 + 0)",
             "    if r2 != 0 goto out", "    r2 = 1", "    *(u32 *)(r1 + 0) = r2",
             f"    zero s{number}.out", f"    *(u32 *)(r10 + s{number}.out.id) = record({name})"]
    for i, one in listed:
        lines.append(f"    r7 = @{one['name']}(r6)")
        member = f"s{number}.out.v{i}"
        kind = type_in_record(one)
        if kind.startswith("str"):
            lines.append(f"    call probe_read_user_str(&{member}, {TEXT_BYTES}, r7)")
        else:
            register = "r7" if kind.endswith("64") else "w7"
            lines.append(f"    *(u{kind[1:]} *)(r10 + {member}) = {register}")
    lines += [f"    call ringbuf_output(map[events], &s{number}.out, sizeof({name}), 0)", "out:",
              "    exit 0"]
    lines.insert(4, "    r6 = r1")
    return "\n".join(lines)


def values_by_programs(gpufs, program, arguments, wanted, directory):
    """By address, the values at its first hit."""
    text = os.path.join(directory, "values.bpf")
    first = collections.defaultdict(dict)
    addresses = list(wanted)
    for begin in range(0, len(addresses), EVENTS_AT_ONCE):
        names, programs = {}, [".map events ringbuf"]
        for address in addresses[begin:begin + EVENTS_AT_ONCE]:
            listed = [(i, one) for i, one in enumerate(wanted[address]) if one["program"]]
            for chunk in range(0, len(listed), MOST_IN_RECORD):
                number = len(names)
                names[f"at{number}"] = address
                programs.append(program_text(program, address, number,
                                             listed[chunk:chunk + MOST_IN_RECORD]))
        with open(text, "w", encoding="utf-8") as file:
            file.write("\n".join(programs) + "\n")
        told = subprocess.run([gpufs, "run", text, "--json", "-o", f"{text}.json", "--", "setarch",
                               "-R", "env", "-i", program, *arguments], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if told.returncode != 0:
            sys.exit(told.stderr)
        with open(f"{text}.json", encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                if "record" in record:
                    first[names[record["record"]]].update(record["values"])
    return first


def main():
    gpufs, most, program, arguments = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    program = os.path.abspath(program)
    wanted = {}
    for name, line in lines_of(program):
        for address, listed in variables_at(gpufs, program, f"{name}:{line}").items():
            wanted[address] = listed
        if sum(map(len, wanted.values())) >= 3 * most:
            break  # not all lines are run
    sums = collections.Counter()
    with tempfile.TemporaryDirectory() as directory:
        by_gdb = values_by_gdb(program, arguments, wanted, directory)
        run = {address: wanted[address] for address in wanted if address in by_gdb}
        by_tracefs = values_by_gpufs(gpufs, program, arguments, run, directory)
        by_programs = values_by_programs(gpufs, program, arguments, run, directory)
    equal = {}
    for reader, values in (("fetch", by_tracefs), ("program", by_programs)):
        sums = collections.Counter()
        for address, listed in run.items():
            for i, one in enumerate(listed):
                theirs = by_gdb[address]["values"][one["name"]]
                read = values.get(address, {})
                ours = read.get("fields", read).get(f"v{i}", one["trouble"])
                sums[judge(one, reader, address, ours, theirs, by_gdb[address]["function"])] += 1
        equal[reader] = 0 if sums["different"] else sums["equal"]
        print(f"by {reader}: " + ", ".join(f"{count} {what}"
                                           for what, count in sorted(sums.items())))
    sys.exit(0 if equal["program"] >= equal["fetch"] >= most / 10 else 1)


def judge(one, reader, address, ours, theirs, function):
    """Sorts a pair; prints those that differ."""
    if isinstance(ours, str) and ours.startswith("0x"):
        ours = int(ours, 16)
    if function != one["function"]:
        return "of an inlined function that gdb has not yet entered"
    # gdb computes places and values, knows the registers of vectors, and finds in the caller what was passed.
    for reason in ("computes nothing", "when the function began", "probes do not see",
                   "what the program computes"):
        if isinstance(ours, str) and reason in ours and not isinstance(theirs, str):
            return "told to be out of a probe's reach"
    if isinstance(theirs, dict):
        most = TEXT_BYTES - 1 if reader == "program" else None
        if theirs["text"][:most] == ours:
            return "equal"
    elif isinstance(ours, int) and isinstance(theirs, int):
        size = re.search(r":[suxb](\d+)", one[reader])
        mask = (1 << int(size.group(1))) - 1 if size else (1 << 64) - 1
        if ours & mask == theirs & mask:
            return "equal"
    elif not isinstance(ours, int) and theirs == "optimized out":
        return "absent in both"
    elif not isinstance(ours, int) and theirs == "other":
        return "of no number"
    # A program at the function's begin keeps what gdb would have to find in the caller.
    if reader == "program" and theirs == "optimized out" and "function's begin" in one["where"]:
        return "known by programs alone"
    print(f"by {reader}: {one['place']} {one['function']} ({function} in gdb) at {address}: {one['name']}: "
          f"{ours} ({one['where']}), gdb: {theirs}")
    return "different"


main()
