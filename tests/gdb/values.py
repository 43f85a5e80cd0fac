# Run by gdb, on a program that is not yet started: stops once at each address of the file WANTED and
# writes to TOLD what the variables there are. The lines of both are JSON objects.
import json
import os

import gdb

MASK = (1 << 64) - 1


def value_of(name, is_text):
    """The variable's value as 64 bits, its text, or why there is none."""
    try:
        value = gdb.selected_frame().read_var(name)
    except ValueError:
        return "unknown"
    if value.is_optimized_out:
        return "optimized out"
    try:
        kind = value.type.strip_typedefs().code
        if kind == gdb.TYPE_CODE_FLT:
            return "other"
        if is_text:
            return {"text": value.string("latin-1")}
        return int(value) & MASK
    except gdb.error as error:
        return "optimized out" if "optimized out" in str(error) else "other"


class Place(gdb.Breakpoint):
    def __init__(self, place):
        super().__init__("*" + place["address"], internal=True)
        self.place = place
        self.was_here = False

    def stop(self):
        if self.was_here:
            return False
        self.was_here = True
        frame = gdb.selected_frame()
        told = {"address": self.place["address"], "function": frame.name(), "values": {}}
        for name, is_text in self.place["names"]:
            told["values"][name] = value_of(name, is_text)
        output.write(json.dumps(told) + "\n")
        return False


output = open(os.environ["TOLD"], "w", encoding="utf-8")
with open(os.environ["WANTED"], encoding="utf-8") as wanted:
    places = [Place(json.loads(line)) for line in wanted]
gdb.execute("run", to_string=True)
output.close()
