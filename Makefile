# gpufs - plain make, no generator.  `make`, `make check`, `make V=1`, `make SAN=1`.
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
PREFIX  ?= /usr/local
B       := build$(if $(SAN),/san)

CXX      ?= g++
CXXFLAGS ?= -O2 -g
WARN     := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Werror
override CXXFLAGS += -std=c++20 $(WARN) $(if $(SAN),-fsanitize=address$(,)undefined -fno-omit-frame-pointer)
override CPPFLAGS += -Iinclude -Isrc -isystem /usr/include/traceevent
LDLIBS   := -lboost_program_options -ltraceevent
TESTLIBS := -lboost_unit_test_framework
, := ,
Q := $(if $(V),,@)

LIB  := $(filter-out src/cmd/%,$(wildcard src/*/*.cc))
APP  := $(wildcard src/cmd/*.cc)
TEST := $(wildcard tests/*.cc tests/*/*.cc)
obj   = $(1:%.cc=$(B)/%.o)

all: $(B)/gpufs

$(B)/libgpufs.a: $(call obj,$(LIB))
	@echo "  AR    $@"; rm -f $@
	$(Q)$(AR) rcs $@ $^
$(B)/gpufs: $(call obj,$(APP)) $(B)/libgpufs.a
	@echo "  LD    $@"
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@
$(B)/gpufs-test: $(call obj,$(TEST)) $(B)/libgpufs.a
	@echo "  LD    $@"
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) $^ $(LDLIBS) $(TESTLIBS) -o $@

# -MMD writes the header list of each object next to it, so a changed header rebuilds its users.
$(B)/%.o: %.cc Makefile
	@echo "  CXX   $<"; mkdir -p $(@D)
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -c $< -o $@
-include $(patsubst %.o,%.d,$(call obj,$(LIB) $(APP) $(TEST)))

clean:
	rm -rf build
.PHONY: all clean
.DELETE_ON_ERROR:
