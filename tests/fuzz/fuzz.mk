# fuzz.mk: the library with clang's sanitizers, and the fuzzers on it. Read alone, beside the Makefile,
# which makes what is in GEN:
#   make -f tests/fuzz/fuzz.mk run SECONDS=15 SEED=1
# SEED=0 takes another one each time. O=-O0 compiles in half the time, and runs slower.

B       := build/fuzz
GEN     := build/gen
O       := -O1
SECONDS ?= 3600
SEED    ?= 0
FLAGS   := -std=c++20 $(O) -gline-tables-only -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined -Iinclude -Isrc -Itests -isystem /usr/include/traceevent
COMPILE := clang++ $(FLAGS) -fsanitize=fuzzer-no-link

# A folder is compiled as one source, so that what its files include is read once. Where two of its
# files have a local name in common they are compiled one by one, which takes twice as long.
FOLDERS := $(patsubst %/,%,$(sort $(dir $(filter-out src/cmd/%,$(wildcard src/*/*.cc src/*/*/*.cc)))))
UNITS   := $(FOLDERS:%=$(B)/%/unit.o) $(B)/gen/recipes.o $(B)/gen/monitors.o
FUZZERS := $(patsubst tests/fuzz/%_fuzz.cc,%,$(wildcard tests/fuzz/*_fuzz.cc))

# Texts and bytes to begin with, besides tests/fuzz/corpus/NAME.
SEEDS_assembler := bpf_asm tests/data/asm tests/data/verifier_logs
SEEDS_disasm    := tests/data/asm
SEEDS_trace_dat := tests/data/trace_dat
SEEDS_event_format := $(patsubst %,tests/data/formats/%,6.1/events/ftrace 6.12/events/sched 6.17-gpu 6.18/events/syscalls)

all: $(FUZZERS:%=$(B)/%)
.SECONDEXPANSION:
$(B)/%/unit.o: $$(wildcard %/*.cc) tests/fuzz/fuzz.mk
	@echo "  FUZZ  $*"; mkdir -p $(@D)
	@printf '#include "%s"\n' $(abspath $(wildcard $*/*.cc)) >$(@D)/unit.cc
	@$(COMPILE) -I$(GEN) -w -MMD -MP -c $(@D)/unit.cc -o $@ 2>/dev/null || { \
		echo "  FUZZ  $*, one by one"; \
		for source in $(wildcard $*/*.cc); do \
			$(COMPILE) -I$(GEN) -MMD -MP -MT $@ -c $$source -o $(@D)/$$(basename $$source .cc).o || exit; done; \
		ld -r $(patsubst %.cc,$(B)/%.o,$(wildcard $*/*.cc)) -o $@; \
		cat $(patsubst %.cc,$(B)/%.d,$(wildcard $*/*.cc)) >$(@D)/unit.d; }
$(B)/gen/%.o: $(GEN)/%.cc
	@echo "  FUZZ  $<"; mkdir -p $(@D)
	@$(COMPILE) -c $< -o $@
$(B)/tests/fuzz/%.o: tests/fuzz/%.cc
	@echo "  FUZZ  $<"; mkdir -p $(@D)
	@$(COMPILE) -MMD -MP -c $< -o $@
-include $(FOLDERS:%=$(B)/%/unit.d) $(FUZZERS:%=$(B)/tests/fuzz/%_fuzz.d)
$(B)/libgpufs.a: $(UNITS)
	@rm -f $@; $(AR) qc $@ $^
$(FUZZERS:%=$(B)/%): $(B)/%: $(B)/tests/fuzz/%_fuzz.o $(B)/libgpufs.a
	@clang++ $(FLAGS) -fsanitize=fuzzer -fuse-ld=lld $^ -ltraceevent -lelf -lz -lzstd -o $@

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
