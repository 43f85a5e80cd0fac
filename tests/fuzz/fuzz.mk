# fuzz.mk: the fuzzers, with clang's libFuzzer and sanitizers. Read alone, beside the Makefile:
#   make -f tests/fuzz/fuzz.mk run SECONDS=15 SEED=1
# SEED=0 takes another one each time.
# The pure layers, the interpreter, and what reads recordings: what they read may come from anywhere.

B       := build/fuzz
SECONDS ?= 3600
SEED    ?= 0
FLAGS   := -std=c++20 -O1 -gline-tables-only -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined -Isrc -Itests -isystem /usr/include/traceevent
READER  := src/engine/trace/file \
	src/engine/trace/file_header \
	src/engine/trace/context \
	src/engine/trace/cpu_pages \
	src/engine/trace/events \
	src/engine/trace/recorded_events
INTERPRETER := src/vm/memory \
	src/vm/world \
	src/vm/map \
	src/vm/key_index \
	src/vm/interpreter \
	src/vm/check \
	src/vm/helpers_common \
	src/vm/helpers_maps
LIB     := $(patsubst %.cc,$(B)/%.o,$(wildcard src/base/*.cc src/lang/*.cc src/lang/*/*.cc) \
	$(addsuffix .cc,$(READER) $(INTERPRETER)))
FUZZERS := $(patsubst tests/fuzz/%_fuzz.cc,%,$(wildcard tests/fuzz/*_fuzz.cc))

# Texts and bytes to begin with, besides tests/fuzz/corpus/NAME.
SEEDS_assembler := bpf_asm tests/data/asm tests/data/verifier_logs
SEEDS_disasm    := tests/data/asm
SEEDS_trace_dat := tests/data/trace_dat
SEEDS_event_format := $(patsubst %,tests/data/formats/%,6.1/events/ftrace 6.12/events/sched 6.17-gpu 6.18/events/syscalls)

all: $(FUZZERS:%=$(B)/%)
$(B)/%.o: %.cc
	@echo "  FUZZ  $<"; mkdir -p $(@D)
	@clang++ $(FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c $< -o $@
-include $(LIB:.o=.d) $(FUZZERS:%=$(B)/tests/fuzz/%_fuzz.d)
$(FUZZERS:%=$(B)/%): $(B)/%: $(B)/tests/fuzz/%_fuzz.o $(LIB)
	@clang++ $(FLAGS) -fsanitize=fuzzer $^ -ltraceevent -lz -lzstd -o $@

# What is found stays in build/fuzz/NAME-found; NAME.passed is there where nothing was.
run: $(FUZZERS:%=run-%)
run-%: $(B)/%
	@mkdir -p $(B)/corpus/$*; rm -f $(B)/$*.passed
	@$< -max_total_time=$(SECONDS) -seed=$(SEED) -max_len=2048 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix=$(B)/$*-found- $(B)/corpus/$* $(wildcard tests/fuzz/corpus/$*) \
		$(SEEDS_$*) 2> $(B)/$*.log || { tail -n 40 $(B)/$*.log; exit 1; }
	@touch $(B)/$*.passed; sed -n 's/^stat::number_of_executed_units: */$*: inputs tried: /p' $(B)/$*.log
.PHONY: all run
.SECONDARY:
