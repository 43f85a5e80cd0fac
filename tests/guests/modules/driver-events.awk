# Makes of event formats, as tracefs has them, what toy_driver.c fires: a header of events with the
# same names, fields and types in the same system, and a table of them.
#
#   awk -v group=amdgpu -v out=DIR -f driver-events.awk FORMAT...
#
# writes DIR/GROUP_events.h and DIR/GROUP_table.h. A field's value comes as a number or as text.

function entry_of(type, name,    size) {
    if (type ~ /^__data_loc char\[\]/) return "__string(" name ", values->text[" fields "])"
    if (type ~ /^__data_loc /) {
        sub(/^__data_loc /, "", type)
        sub(/\[\].*/, "", type)
        return "__dynamic_array(" type ", " name ", 1)"
    }
    if (match(name, /\[.*\]/)) {
        size = substr(name, RSTART + 1, RLENGTH - 2)
        return "__array(" type ", " substr(name, 1, RSTART - 1) ", " size ")"
    }
    return "__field(" type ", " name ")"
}

function assignment_of(type, name,    number, plain) {
    number = "values->number[" fields "]"
    plain = name
    sub(/\[.*/, "", plain)
    if (type ~ /^__data_loc char\[\]/) return "ASSIGN_STRING(" name ", values->text[" fields "]);"
    if (type ~ /^__data_loc /) {
        sub(/^__data_loc /, "", type)
        sub(/\[\].*/, "", type)
        return "*(" type " *)__get_dynamic_array(" name ") = " number ";"
    }
    if (name ~ /\[/ && type == "char")
        return "strncpy(__entry->" plain ", values->text[" fields "], sizeof(__entry->" plain "));"
    if (name ~ /\[/)
        return "memset(__entry->" plain ", 0, sizeof(__entry->" plain ")); __entry->" plain \
               "[0] = " number ";"
    if (type == "const char *")
        return "__entry->" name " = toy_keep(values->text[" fields "]);"
    if (type ~ /\*$/) return "__entry->" name " = (" type ")(unsigned long)" number ";"
    return "__entry->" name " = (" type ")" number ";"
}

function end_event() {
    if (event == "") return
    print "\nTRACE_EVENT(" event ",\n\tTP_PROTO(const struct toy_values *values),\n\tTP_ARGS(values)," \
          "\n\tTP_STRUCT__entry(\n" entries "\t),\n\tTP_fast_assign(\n" assignments \
          "\t),\n\tTP_printk(\"%s\", \"toy\")\n);" > header
    print "static void fire_" event "(const struct toy_values *values)\n{\n\ttrace_" event \
          "(values);\n}\nstatic const char *const fields_of_" event "[] = { " names "NULL };" > table
    rows = rows "\t{ \"" event "\", fields_of_" event ", fire_" event " },\n"
    event = ""
}

BEGIN {
    header = out "/" group "_events.h"
    table = out "/" group "_table.h"
    print "#undef TRACE_SYSTEM\n#define TRACE_SYSTEM " group \
          "\n#undef TRACE_INCLUDE_FILE\n#define TRACE_INCLUDE_FILE " group "_events\n" > header
    print "#if !defined(TOY_" group "_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)\n#define TOY_" \
          group "_EVENTS_H\n#include <linux/tracepoint.h>" > header
}

/^name: / {
    end_event()
    event = $2
    entries = assignments = names = ""
    fields = 0
}

/^\tfield:/ && !/\tfield:[^;]* common_/ {
    declaration = $0
    sub(/^\tfield:/, "", declaration)
    sub(/;.*/, "", declaration)
    name = declaration
    sub(/.* /, "", name)
    type = substr(declaration, 1, length(declaration) - length(name) - 1)
    entries = entries "\t\t" entry_of(type, name) "\n"
    assignments = assignments "\t\t" assignment_of(type, name) "\n"
    plain = name
    sub(/\[.*/, "", plain)
    names = names "\"" plain "\", "
    fields++
    # The kernel's own are in no header that modules can have; their numbers do not matter.
    if (type ~ /^enum / && !(type in enums)) {
        enums[type]
        print "#ifndef TRACE_HEADER_MULTI_READ\n" type " { TOY_" group "_" name " };\n#endif" > header
    }
}

END {
    end_event()
    print "\n#endif\n#undef TRACE_INCLUDE_PATH\n#define TRACE_INCLUDE_PATH .\n" \
          "#include <trace/define_trace.h>" > header
    print "static const struct toy_event " group "_table[] = {\n" rows "\t{ NULL }\n};" > table
}
