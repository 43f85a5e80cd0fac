# The slow checks of `make lint`, with a stamp for each file, and for clang-tidy each folder, that was
# found clean: it is looked at again when it, a header that it includes or the rules have changed.
#
#   make -f Makefile -f tests/lint/stamps.mk lint-headers lint-format lint-tidy

HEADERS := $(wildcard include/gpufs/*.h src/*/*.h src/*/*/*.h)
HEADER_STAMPS := $(HEADERS:%=$(B)/lint/%.alone)
# Not the tests: the headers of their framework take ten times as long as all else.
TIDY_STAMPS   := $(patsubst %,$(B)/lint/%.tidy,$(call folders,$(LIB) $(APP)) $(filter src/%,$(alone)))
# Nor the guests' modules, which have the kernel's style.
FORMAT_STAMPS := $(patsubst %,$(B)/lint/%.format,$(HEADERS) $(LIB) $(APP) $(filter-out \
	tests/guests/modules/%,$(wildcard tests/*.cc tests/*/*.cc tests/*/*.h tests/*/*/*.cc tests/*/*/*.h)))
LINT_CPPFLAGS := $(CPPFLAGS) -I$(B)/gen -DGPUFS_VERSION='""'

$(HEADER_STAMPS) $(TIDY_STAMPS): | $(B)/gen/syscall_list.inc
lint-headers: $(HEADER_STAMPS)
lint-format: $(FORMAT_STAMPS)
lint-tidy: $(TIDY_STAMPS)

# Twice, so that one without an include guard is found too.
$(B)/lint/%.alone: % tests/lint/stamps.mk
	@mkdir -p $(@D)
	@$(CXX) $(LINT_CPPFLAGS) $(CXXFLAGS) -fsyntax-only -MMD -MP -MT $@ -MF $@.d \
		-include $< -include $< -x c++ /dev/null
	@touch $@

$(B)/lint/%.format: % .clang-format
	@mkdir -p $(@D)
	@clang-format --dry-run -Werror $< 2> $@.log || { grep -m 1 error: $@.log | \
		sed 's/ error: .*-Wclang-format-violations.*/ not as clang-format -i has it/'; exit 1; }
	@touch $@

# A folder is read as one source, as it is compiled, in a quarter of the time. clang-tidy counts on
# stderr the warnings it held back, and says there why it crashed.
.SECONDEXPANSION:
$(B)/lint/%.tidy: $$(or $$(filter $$(alone),$$*),$$(call sources_of,$$*)) .clang-tidy tests/lint/stamps.mk
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(filter src/%.cc,$^) > $@.cc
	@$(CXX) -iquote . $(LINT_CPPFLAGS) $(CXXFLAGS) -MM -MP -MT $@ -MF $@.d $@.cc
	@clang-tidy --quiet $@.cc -- -iquote . $(LINT_CPPFLAGS) -std=c++20 > $@.log 2>&1 || \
		{ grep -v '^[0-9]* warnings\{0,1\} ' $@.log; exit 1; }
	@touch $@

-include $(HEADER_STAMPS:%=%.d) $(TIDY_STAMPS:%=%.d)
.PHONY: lint-headers lint-format lint-tidy
