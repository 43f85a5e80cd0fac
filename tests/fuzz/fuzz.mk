# fuzz.mk: the library with clang's sanitizers, and the fuzzers on it. Read alone, beside the Makefile,
# which makes what is in GEN:
#   make -f tests/fuzz/fuzz.mk run SECONDS=15 SEED=1
# SEED=0 takes another one each time. QUICK=1 compiles in a third of the time, for runs of seconds.

B       := build/fuzz
GEN     := build/gen
QUICK   :=
SECONDS ?= 3600
SEED    ?= 0
# Without what the address sanitizer sees, too, and what needs an optimizer.
FLAGS   := -std=c++20 $(if $(QUICK),-O0,-O1) -gline-tables-only -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize=null,vptr,object-size,pointer-overflow -fno-sanitize-recover=undefined \
	-Iinclude -Isrc -Itests -isystem /usr/include/traceevent
# What the fuzzers look for a way through, where whatever is read is read.
READERS  = src/base src/lang/% src/bt/% src/vm src/engine/recording
COVERAGE = $(if $(filter $(READERS),$*),$(if $(QUICK),-fsanitize-coverage=inline-8bit-counters$(,)pc-table,-fsanitize=fuzzer-no-link))
COMPILE  = clang++ $(FLAGS) $(COVERAGE)
,        := ,
PCH     := $(B)/src/base/precompiled.h.pch

# A folder is compiled as one source, as the Makefile does it too.
FOLDERS := $(patsubst %/,%,$(sort $(dir $(filter-out src/cmd/%,$(wildcard src/*/*.cc src/*/*/*.cc)))))
UNITS   := $(FOLDERS:%=$(B)/%/unit.o) $(patsubst $(GEN)/%.cc,$(B)/gen/%.o,$(wildcard $(GEN)/*.cc))
FUZZERS := $(patsubst tests/fuzz/%_fuzz.cc,%,$(wildcard tests/fuzz/*_fuzz.cc))

# Texts and bytes to begin with, besides tests/fuzz/corpus/NAME.
SEEDS_assembler := bpf_asm tests/data/asm tests/data/verifier_logs
SEEDS_disasm    := tests/data/asm
SEEDS_trace_dat := tests/data/trace_dat
SEEDS_perf_data := tests/data/perf_data
SEEDS_event_format := $(patsubst %,tests/data/formats/%,6.1/events/ftrace 6.12/events/sched 6.17-gpu 6.18/events/syscalls)

all: $(FUZZERS:%=$(B)/%)
.SECONDEXPANSION:
$(PCH): src/base/precompiled.h tests/fuzz/fuzz.mk
	@echo "  FUZZ  $<"; mkdir -p $(@D)
	@$(COMPILE) -fpch-instantiate-templates -MMD -MP -x c++-header $< -o $@
$(B)/%/unit.o: $$(wildcard %/*.cc) $(PCH)
	@echo "  FUZZ  $*"; mkdir -p $(@D)
	@printf '#include "%s"\n' $(wildcard $*/*.cc) >$(@D)/unit.cc
	@$(COMPILE) -iquote . -I$(GEN) -w -include-pch $(PCH) -MMD -MP -c $(@D)/unit.cc -o $@
$(B)/gen/%.o: $(GEN)/%.cc
	@echo "  FUZZ  $<"; mkdir -p $(@D)
	@$(COMPILE) -c $< -o $@
$(B)/tests/fuzz/%.o: tests/fuzz/%.cc
	@echo "  FUZZ  $<"; mkdir -p $(@D)
	@$(COMPILE) -MMD -MP -c $< -o $@
-include $(PCH:%.pch=%.d) $(FOLDERS:%=$(B)/%/unit.d) $(FUZZERS:%=$(B)/tests/fuzz/%_fuzz.d)
$(B)/libgpufs.a: $(UNITS)
	@rm -f $@; $(AR) qc $@ $^
$(FUZZERS:%=$(B)/%): $(B)/%: $(B)/tests/fuzz/%_fuzz.o $(B)/libgpufs.a
	@clang++ $(FLAGS) -fsanitize=fuzzer -fuse-ld=lld $^ -ltraceevent -lelf -lz -lzstd -llzma -o $@

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
