# gpufs - plain make, no generator.
#
#   make            build/gpufs                     make check    every test this machine can run
#   make static     build/static/gpufs              make demo     what it does, on a real stall
#   make install    PREFIX=/usr/local DESTDIR=      make lint     layers, format, man pages
#   make check-X    a ring of tests, see RINGS      make bench    beside the peers that are installed
#   make fuzz       FUZZ_SECONDS=3600               make clean    all but the guests' kernels
#   V=1 shows the commands, SAN=1 builds with ASan and UBSan into build/san, UNITY= compiles file by file.
#   ARCH=arm64 builds for that architecture into build/arm64, and check-vm then asks its kernels.

# As many jobs as CPUs, unless -j was given; the makes below share them.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
PREFIX  ?= /usr/local
# Debian's cross compiler, and Debian's libraries of ARCH in a directory of their own.
ARCH    :=
TRIPLET_arm64 := aarch64-linux-gnu
TRIPLET := $(TRIPLET_$(ARCH))
CROSS   := $(TRIPLET:%=%-)
SYSROOT := $(ARCH:%=$(abspath $(or $(GPUFS_VM_KERNELS),build/vm))/%/root)
ifneq ($(ARCH),$(and $(TRIPLET),$(ARCH)))
$(error ARCH=$(ARCH) is not known: arm64 is)
endif
IS_ARM64 := $(filter arm64 aarch64,$(or $(ARCH),$(shell uname -m)))
B       := build$(ARCH:%=/%)$(if $(SAN),/san)
, := ,
Q := $(if $(V),,@)

CXX      ?= g++
# Compiles tests in half of g++'s time.
TEST_CXX ?= clang++
GCC      := gcc
CLANG    := clang
ifdef ARCH
CXX      := $(CROSS)g++ --sysroot=$(SYSROOT)
TEST_CXX := clang++ --target=$(TRIPLET) --sysroot=$(SYSROOT)
GCC      := $(CROSS)gcc --sysroot=$(SYSROOT)
CLANG    := clang --target=$(TRIPLET) --sysroot=$(SYSROOT)
AR       := $(CROSS)ar
endif
# Lines of code for who looks into it; all of -g takes a quarter longer to compile, and so does -O2,
# which pays where each record goes through (HOT).
ifndef CXXFLAGS
CXXFLAGS := -O1 -g1
HOT_CXXFLAGS := -O2
# Only with these flags, which are tried: optimizers warn of what is not there.
WARN     := -Werror
endif
WARN     += -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
SANITIZE := $(if $(SAN),-fsanitize=address$(,)undefined -fno-omit-frame-pointer)
override CXXFLAGS += -std=c++20 -ffunction-sections $(WARN) $(SANITIZE)
override CPPFLAGS += -Iinclude -Isrc -Itests -isystem $(SYSROOT)/usr/include/traceevent
LDLIBS   := -ltraceevent -lelf -lz -lzstd -llzma
TESTLIBS := -lboost_unit_test_framework

LIB  := $(filter-out src/cmd/%,$(wildcard src/*/*.cc src/*/*/*.cc))
APP  := $(wildcard src/cmd/*.cc src/cmd/*/*.cc)
TEST := $(filter-out tests/demo/% tests/fuzz/% tests/programs/% tests/bench/% tests/embed/%,\
        $(wildcard tests/*.cc tests/*/*.cc tests/*/*/*.cc))
MAN  := $(wildcard man/*.[13578])
RECIPES  := $(wildcard triggers/*.trig)
MONITORS := $(wildcard bpf_asm/*.bpf bpf_asm/lib/*.bpf)
PICTURES := $(wildcard $(foreach folder,pictures page,src/view/$(folder)/*.css src/view/$(folder)/*.js \
            src/view/$(folder)/*.html))
TEXT_EVENTS := src/lang/trace_text/known_events.txt
EMBEDDED := recipes monitors pictures text_events

# A folder is compiled as one source, so that what its files include is read once, and what they take
# of templates is made once: a build from nothing takes half the time. Names local to a file are
# therefore unique in its folder. UNITY= is for who changes one file after another. The objects of both
# ways lie beside each other, and what is linked of either is the same.
UNITY ?= 1
# g++ takes a source that is included for a header, whose classes others would have.
UNITY_WARN = $(if $(findstring clang,$(CXX)),,-Wno-subobject-linkage)
obj     = $(1:%.cc=$(B)/%.o)
alone  := src/cmd/main.cc tests/main.cc
folders = $(patsubst %/,%,$(sort $(dir $(filter-out $(alone),$(1)))))
objects = $(if $(UNITY),$(patsubst %,$(B)/%/folder.o,$(call folders,$(1))) \
            $(call obj,$(filter $(alone),$(1))),$(obj))

all: $(B)/gpufs

# All libraries but libc are linked in where their archives are: to find 5,000 symbols of libstdc++ at
# each start takes longer than most commands' own work.
archive_of = $(findstring /,$(shell $(CXX) -print-file-name=$(1).a))
linked_in  = $(if $(call archive_of,libstdc++),-static-libstdc++ -static-libgcc) \
             $(foreach lib,$(1:-l%=lib%),$(if $(call archive_of,$(lib)),-l:$(lib).a,$(lib:lib%=-l%)))

$(B)/libgpufs.a: $(call objects,$(LIB)) $(EMBEDDED:%=$(B)/gen/%.o)
	@echo "  AR    $@"; rm -f $@
	$(Q)$(AR) qcs $@ $^
# A monitor with a mistake is not shipped: gpufs does not check again what is compiled into it.
$(B)/gpufs: $(call objects,$(APP)) $(B)/libgpufs.a
	@echo "  LD    $@"
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) $^ $(if $(SAN),$(LDLIBS),$(call linked_in,$(LDLIBS))) -o $@
	$(Q)$(if $(ARCH),,for monitor in $(wildcard bpf_asm/*.bpf) bpf_asm/lib/stall.bpf bpf_asm/lib/why.bpf; do \
		$@ asm $$monitor >/dev/null || exit 1; done)
$(B)/gpufs-test: $(call objects,$(TEST)) $(B)/libgpufs.a
	@echo "  LD    $@"
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) $^ $(LDLIBS) $(TESTLIBS) -o $@

# What tests look at from outside: a program, linked for any place and for one, with DWARF 5 and 4,
# a library, and work whose truth is known.
PROGRAMS := $(addprefix $(B)/,nest nest-fixed nest-dwarf4 plug.so probed probed-fixed gpufs-work \
            gpufs-gpu-work gpufs-drm-work gpufs-nvidia-work gpufs-cuda-work gpufs-cuda-all gpufs-hip-work gpufs-ze-work \
            gpufs-vulkan-work gpufs-services-work late-timer statements dropped parameters-O0 parameters-O2 parameters-types chains chains-lld chains-static chains-plugin.so tableless \
            thread-variables thread-variables-fixed thread-variables.so thread-variables-near.so thread-variables-other.so)
# One source whose variables lie in every way that compilers know: COMPILER-OPTIMIZATION-FORM.
VARIABLES := $(addprefix $(B)/variables/,gcc-O0-pie gcc-O2-pie gcc-O2-dwarf4 gcc-O2-packed gcc-O2-split \
             gcc-O2-split4 gcc-O2-package gcc-O2-apart gcc-O1-pie gcc-O3-pie gcc-Os-pie gcc-O2-lto gcc-O2-static \
             clang-O0-pie clang-O1-pie clang-O2-pie clang-O3-static clang-Os-pie clang-O2-dwarf4 clang-O2-split)
$(B)/gpufs-test: | $(PROGRAMS) $(VARIABLES)
$(B)/nest:        MODE = -pie -fPIE
$(B)/nest-fixed:  MODE = -no-pie -fno-pie
$(B)/nest-dwarf4: MODE = -gdwarf-4
$(B)/plug.so:     MODE = -shared -fPIC -nostdlib
$(B)/plug.so: tests/programs/plug.cc
$(B)/probed:       MODE = -std=c++20 -pie -fPIE
$(B)/probed-fixed: MODE = -std=c++20 -no-pie -fno-pie
$(B)/probed $(B)/probed-fixed: tests/programs/probed.cc
# Programs whose stacks have no frame pointers. On arm64, one whose return addresses are signed.
SIGNED := $(if $(IS_ARM64),-mbranch-protection=standard)
$(B)/chains:        MODE = -std=c++20 -O2 -fomit-frame-pointer -pie -fPIE -rdynamic $(SIGNED)
# Its code begins in a page of the file that other segments have, too.
$(B)/chains-lld:    MODE = -std=c++20 -O2 -fomit-frame-pointer -pie -fPIE -rdynamic -fuse-ld=lld $(SIGNED)
$(B)/chains-static: MODE = -std=c++20 -O3 -fomit-frame-pointer -static -w
$(B)/chains-plugin.so: MODE = -O2 -fomit-frame-pointer -shared -fPIC $(SIGNED)
$(B)/chains $(B)/chains-lld $(B)/chains-static: tests/programs/chains.cc
$(B)/tableless: MODE = -x c -O1 -static -nostdlib -fno-stack-protector -fno-asynchronous-unwind-tables \
                       -fno-omit-frame-pointer -fno-optimize-sibling-calls
$(B)/tableless: tests/programs/tableless.c
$(B)/chains-plugin.so: tests/programs/chains_plugin.cc
# Libraries whose variables lie in blocks of their own, and beside the program's; and what finds them
# where it is not this machine's usual way: descriptors on x86-64, module numbers on arm64.
$(B)/thread-variables:         MODE = -x c -O2 -pie -fPIE
$(B)/thread-variables-fixed:   MODE = -x c -O0 -no-pie -fno-pie
$(B)/thread-variables.so:      MODE = -x c -O2 -DLIBRARY -shared -fPIC
$(B)/thread-variables-near.so: MODE = -x c -O2 -DLIBRARY -shared -fPIC -ftls-model=initial-exec
$(B)/thread-variables-other.so: MODE = -x c -O2 -DLIBRARY -shared -fPIC -mtls-dialect=$(if $(IS_ARM64),trad,gnu2)
$(filter $(B)/thread-%,$(PROGRAMS)): tests/programs/thread_variables.c
$(B)/gpufs-work: tests/programs/work.cc tests/programs/long_symbol.h
$(B)/late-timer: MODE = -x c
$(B)/late-timer: tests/programs/late_timer.c
$(B)/parameters-O0 $(B)/parameters-O2: MODE = -std=c++20 $(@:$(B)/parameters%=%) -fno-lto -fno-ipa-sra
# Each type in a unit of its own.
$(B)/parameters-types: MODE = -std=c++20 -fdebug-types-section
$(B)/parameters-O0 $(B)/parameters-O2 $(B)/parameters-types: tests/programs/parameters.cc
# clang's optimizer says of a parameter that it is nowhere.
$(B)/dropped: private CXX = $(CLANG)
$(B)/dropped: MODE = -O2
$(B)/dropped: tests/programs/dropped.c | build/.deps-check
$(B)/statements: MODE = -x c -g0
$(B)/statements: tests/programs/statements.c
$(B)/gpufs-gpu-work $(B)/gpufs-drm-work $(B)/gpufs-nvidia-work: MODE = -std=c++20 -Itests
$(B)/gpufs-nvidia-work: tests/programs/nvidia_work.cc tests/guests/modules/toy_nvidia.h
$(B)/gpufs-gpu-work: tests/programs/gpu_work.cc tests/guests/modules/toy_gpu.h
$(filter %/nest %/nest-fixed %/nest-dwarf4,$(PROGRAMS)): tests/programs/nest.cc
$(B)/gpufs-drm-work: tests/programs/drm_work.cc
$(B)/gpufs-work $(B)/gpufs-gpu-work $(B)/gpufs-drm-work $(B)/gpufs-nvidia-work: tests/programs/works.h
# CUDA's libraries without a GPU, where the loader does not look by itself.
CUDA := $(addprefix $(B)/cuda/,libcuda.so.1 libcudart.so.12 libnccl.so.2)
$(CUDA): MODE = -std=c++20 -shared -fPIC -Wl,-soname,$(@F)
$(B)/cuda/libcuda.so.1: tests/programs/cuda/libcuda.cc
$(B)/cuda/libcudart.so.12: tests/programs/cuda/libcudart.cc $(B)/cuda/libcuda.so.1
$(B)/cuda/libnccl.so.2: tests/programs/cuda/libnccl.cc
$(B)/cuda/libcudart.so.12: private LIBRARIES = $(B)/cuda/libcuda.so.1 -Wl,-rpath,'$$ORIGIN'
# The runtime library is a library, and part of the program.
CUDA_WORK := $(B)/gpufs-cuda-work $(B)/gpufs-cuda-all
$(CUDA_WORK): MODE = -std=c++20
$(CUDA_WORK): private LIBRARIES = $(filter $(B)/cuda/%,$^) -Wl,-rpath,'$$ORIGIN/cuda'
$(CUDA_WORK): tests/programs/cuda/work.cc tests/programs/works.h
$(B)/gpufs-cuda-work: $(CUDA)
$(B)/gpufs-cuda-all: tests/programs/cuda/libcudart.cc $(filter-out %libcudart.so.12,$(CUDA))
# HIP's, Level Zero's and Vulkan's: a library of a folder's name, and a program that calls it.
MOCKS := $(addprefix $(B)/,hip/libamdhip64.so.6 ze/libze_loader.so.1 vulkan/libvulkan.so.1)
$(MOCKS): MODE = -std=c++20 -shared -fPIC -Wl,-soname,$(@F)
MOCK_WORK := $(foreach lib,$(MOCKS),$(B)/gpufs-$(patsubst %/,%,$(dir $(lib:$(B)/%=%)))-work)
$(MOCK_WORK): MODE = -std=c++20
$(MOCK_WORK): $(B)/gpufs-%-work: tests/programs/%/work.cc tests/programs/works.h
$(MOCK_WORK): private LIBRARIES = $(filter %.so.1 %.so.6,$^) -Wl,-rpath,'$$ORIGIN/$(@:$(B)/gpufs-%-work=%)'
define mock
$(1): tests/programs/$(2)/$(basename $(basename $(notdir $(1)))).cc tests/programs/$(2)/$(2).h
$(B)/gpufs-$(2)-work: $(1) tests/programs/$(2)/$(2).h
endef
$(foreach lib,$(MOCKS),$(eval $(call mock,$(lib),$(patsubst %/,%,$(dir $(lib:$(B)/%=%))))))
$(CUDA) $(CUDA_WORK): $(wildcard tests/programs/cuda/*.h)
# TLS and a database's client without either, and a program that calls them and the C library.
SERVICES := $(addprefix $(B)/services/,libssl.so.3 libgnutls.so.30 libpq.so.5)
$(SERVICES): MODE = -std=c++20 -shared -fPIC -Wl,-soname,$(@F)
$(B)/services/libssl.so.3: tests/programs/services/libssl.cc
$(B)/services/libgnutls.so.30: tests/programs/services/libgnutls.cc
$(B)/services/libpq.so.5: tests/programs/services/libpq.cc
$(B)/gpufs-services-work: MODE = -std=c++20 -Itests
$(B)/gpufs-services-work: private LIBRARIES = $(SERVICES) -Wl,-rpath,'$$ORIGIN/services'
$(B)/gpufs-services-work: tests/programs/services/work.cc tests/programs/works.h $(SERVICES)

# How each is compiled stands here.
$(PROGRAMS) $(CUDA) $(MOCKS) $(SERVICES): Makefile | build/.deps
	@echo "  CXX   $@"; mkdir -p $(@D)
	$(Q)$(CXX) -O0 -g $(MODE) -Wl,--build-id $(filter tests/%.cc tests/%.c,$^) $(LIBRARIES) -o $@

# By the words of its name. A package has what split files had, which are gone then; "apart" is a
# stripped program beside its debug file. They say they were compiled in a folder of a long name,
# however short the checkout's is.
variant = $(filter $(1),$(subst -, ,$(@F)))
compiler = $(if $(call variant,gcc),$(GCC),$(CLANG))
optimized = $(addprefix -,$(call variant,O0 O1 O2 O3 Os)) $(if $(call variant,lto),-flto)
$(VARIABLES): tests/programs/variables.c Makefile | build/.deps build/.deps-check
	@echo "  CC    $@"; mkdir -p $@.d
	$(Q)$(compiler) $(optimized) -g \
		$(if $(call variant,pie),-fPIE,-fno-pie) $(if $(call variant,dwarf4 split4),-gdwarf-4,-gdwarf-5) \
		$(if $(call variant,packed),-gz) $(if $(call variant,split split4 package),-gsplit-dwarf) \
		$(if $(call variant,package),-DSHORT) \
		-fdebug-prefix-map=$(CURDIR)=$(CURDIR)/tests/programs/../.. \
		-c $< -o $@.d/variables.o
	$(Q)$(compiler) $(optimized) $(or $(addprefix -,$(call variant,pie static)),-no-pie) -Wl,--build-id $(if $(call variant,packed),-gz) \
		$@.d/variables.o -o $@
	$(Q)$(if $(call variant,package),timeout 60 llvm-dwp-19 -e $@ -o $@.dwp && rm $@.d/variables.dwo)
	$(Q)$(if $(call variant,apart),$(CROSS)objcopy --only-keep-debug $@ $@.debug && \
		$(CROSS)strip --strip-all $@ && $(CROSS)objcopy --add-gnu-debuglink=$@.debug $@)

# What each record goes through.
HOT := $(wildcard $(addsuffix /*.cc,src/vm src/lang/event src/lang/print_fmt src/lang/trace_dat \
       src/view/trace))
$(call objects,$(HOT)) $(B)/hot/src/base/precompiled.h.gch: private override CXXFLAGS += $(HOT_CXXFLAGS)

# One file that runs on any Linux box of this architecture, built in a folder of its own. All but HOT
# is compiled for size. Warnings are off: those of -Os are false, and the usual build shows the others.
# max-inline-insns-size: g++ counts a call that makes a string_view of a literal as one instruction
# shorter than the same inlined, but it is longer. The four that follow it make code longer, too.
#
# No exception passes through the C libraries: they are linked without the tables for that. Of them,
# nothing is called that would look for plugins, scan text by sscanf(), or ask for addresses of names.
# All text is in bytes: nothing calls setlocale(), converts between character sets or prints wide text.
SMALL_CXXFLAGS := -Os -fno-omit-frame-pointer --param max-inline-insns-size=1 -fno-jump-tables \
                  -fno-thread-jumps -fno-partial-inlining -fno-ivopts -fno-pie -flto=auto
# What -O2 pads and unrolls pays where numbers are computed in long loops, which nothing here does.
SMALL_HOT := -O2 -fno-tree-vectorize -fno-align-functions -fno-align-jumps -fno-align-loops
C_LIBS := c $(LDLIBS:-l%=%)
UNUSED := __isoc99_sscanf dlopen dlsym dlclose dlerror __res_vinit __res_iclose __vfwprintf_internal \
          $(addprefix __gconv_,find_shlib release_shlib load_conf load_cache lookup_cache release_cache \
          compare_alias_cache)
static:
	$(Q)$(MAKE) B=$(B)/static AR=$(CROSS)gcc-ar CXXFLAGS='$(SMALL_CXXFLAGS)' HOT_CXXFLAGS='$(SMALL_HOT)' WARN= \
		LDFLAGS='$$(SMALL) -L$(B)/static/c -flto-partition=one $(UNUSED:%=-Wl$$(,)--defsym=%=abort)' \
		LINKED='$(C_LIBS:%=$(B)/static/c/lib%.a)' $(B)/static/gpufs
	@echo "        $$(stat -c %s $(B)/static/gpufs) bytes"
$(B)/gpufs: | $(LINKED)
$(B)/c/lib%.a: | build/.deps
	$(Q)mkdir -p $(@D); $(CROSS)objcopy -R .eh_frame -R .rela.eh_frame "$$($(CXX) -print-file-name=$(@F))" $@
# Without what nothing refers to; where the gold linker is, functions of the same code are one. Of
# zstd, the levels that nothing compresses with and the formats before its first release, which
# uncompress() refuses, are left out: its library has all of them in one table. On arm64, g++ lets
# nobody find the tables of exceptions in a static program but by their header, and asks for none.
SMALL = -static -no-pie -s -Wl,--gc-sections,--build-id=none$(if $(IS_ARM64),$(,)--eh-frame-hdr) \
        $(and $(shell command -v $(CROSS)ld.gold),-fuse-ld=gold -Wl$(,)--icf=safe) $(ZSTD_UNUSED)
ZSTD_UNUSED = $(shell $(CROSS)nm -g --defined-only "$$($(CXX) -print-file-name=libzstd.a)" 2>/dev/null | \
	awk '/:$$/ {unused = /^zstd_(double_fast|lazy|opt|v0[0-9])\.o:/} unused && $$2 == "T" {print "-Wl,--defsym=" $$3 "=abort"}')

# The headers that most files include are compiled once: they are 25,000 lines of a source, and
# 80,000 of a test. g++ takes them only under the flags they were compiled with.
PCH_SRC  := $(B)/src/base/precompiled.h
PCH_HOT  := $(B)/$(if $(HOT_CXXFLAGS),hot/)src/base/precompiled.h
PCH_TEST := $(B)/tests/support/precompiled.h
PCH       = -Winvalid-pch -include $(PCH_SRC)
$(call objects,$(filter-out $(HOT),$(LIB) $(APP))): $(PCH_SRC).gch
$(call objects,$(HOT)): $(PCH_HOT).gch
$(call objects,$(HOT)): private PCH = -Winvalid-pch -include $(PCH_HOT)
$(call objects,$(TEST)): $(PCH_TEST).gch
$(PCH_TEST).gch: | build/.deps-check
$(call objects,$(TEST)): private PCH = -Winvalid-pch -include $(PCH_TEST)
# The one that defines Boost.Test's main(), and programs beside.
$(call obj,tests/main.cc tests/demo/blocker.cc tests/bench/probe.cc): private PCH =
$(PCH_SRC).gch $(PCH_TEST).gch: $(B)/%.gch: % $(B)/flags | build/.deps
$(B)/hot/src/base/precompiled.h.gch: src/base/precompiled.h $(B)/flags | build/.deps
$(sort $(PCH_SRC).gch $(PCH_HOT).gch $(PCH_TEST).gch):
	@echo "  CXX   $<"; mkdir -p $(@D)
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -x c++-header $< -o $@
# -MMD writes the header list of each object next to it, so a changed header rebuilds its users.
$(B)/%.o: %.cc $(B)/flags | build/.deps
	@echo "  CXX   $<"; mkdir -p $(@D)
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS) $(PCH) -MMD -MP -c $< -o $@
.SECONDEXPANSION:
sources_of = $(filter-out $(alone),$(wildcard $(1)/*.cc))
# A folder that has other sources now than when it was compiled: a file that came keeps its old time.
sources_then = $(patsubst "%",%,$(filter "%",$(file <$(B)/$(1)/folder.cc)))
differ = $(filter-out $(1),$(2))$(filter-out $(2),$(1))
$(B)/%/folder.o: $$(call sources_of,$$*) $(B)/flags $$(if $$(call differ,$$(call sources_of,$$*),$$(call sources_then,$$*)),force) | build/.deps
	@echo "  CXX   $*"; mkdir -p $(@D)
	@printf '#include "%s"\n' $(call sources_of,$*) >$(@D)/folder.cc
	$(Q)$(CXX) -iquote . $(CPPFLAGS) $(CXXFLAGS) $(UNITY_WARN) $(PCH) -MMD -MP -c $(@D)/folder.cc -o $@
-include $(patsubst %.o,%.d,$(call objects,$(LIB) $(APP) $(TEST)) $(PCH_SRC).d $(PCH_HOT).d $(PCH_TEST).d) $(EMBEDDED:%=$(B)/gen/%.d)

# What is shipped as text is compiled in: the binary alone must do on a rescue box.
$(B)/gen/recipes.cc: $(RECIPES) triggers
$(B)/gen/monitors.cc: $(MONITORS) bpf_asm bpf_asm/lib
$(B)/gen/pictures.cc: $(PICTURES) src/view/pictures src/view/page
$(B)/gen/text_events.cc: $(TEXT_EVENTS)
$(EMBEDDED:%=$(B)/gen/%.cc): src/embed.sh | build/.deps
	@echo "  GEN   $@"; mkdir -p $(@D)
	$(Q)sh src/embed.sh embedded_$(basename $(@F)) $(filter %.trig %.bpf %.css %.js %.html %.txt,$^) >$@
$(B)/gen/%.o: $(B)/gen/%.cc $(B)/flags | build/.deps
	@echo "  CXX   $<"
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MMD -MP -c $< -o $@

# Tests take longer to compile than to run.
$(call objects,$(TEST)) $(PCH_TEST).gch: private override CXXFLAGS += -O0 -g0 -Wno-sign-conversion
$(PCH_TEST).gch: private override CXXFLAGS += $(if $(findstring clang,$(CXX)),-fpch-instantiate-templates)
$(call objects,$(TEST)) $(PCH_TEST).gch: private CXX = $(TEST_CXX)

# Objects are as new as what they are compiled with: other flags rebuild them, a new rule does not.
COMPILED_WITH := $(CXX) $(TEST_CXX) $(CPPFLAGS) $(CXXFLAGS) $(HOT_CXXFLAGS)
$(B)/flags: force
	@mkdir -p $(@D); echo '$(COMPILED_WITH)' | cmp -s - $@ || echo '$(COMPILED_WITH)' >$@

# The version is compiled into one file, which is rebuilt when it changes.
$(B)/src/cmd/main.o: override CPPFLAGS += -DGPUFS_VERSION='"$(VERSION)"'
$(B)/src/cmd/main.o: $(B)/version
$(B)/version: force
	@mkdir -p $(@D); echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' > $@

# The system calls of this architecture, a line SYSCALL(name) each.
$(B)/gen/syscall_list.inc: $(B)/flags
	@echo "  GEN   $@"; mkdir -p $(@D)
	$(Q)echo '#include <asm/unistd.h>' | $(CXX) -E -dM -x c - | LC_ALL=C sort | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/SYSCALL(\1)/p' | grep -v 'arch_specific\|(syscalls)' > $@
$(call objects,src/kernel/host/syscall_names.cc): override CPPFLAGS += -I$(B)/gen
$(call objects,src/kernel/host/syscall_names.cc): $(B)/gen/syscall_list.inc

# Debian packages, installed where missing; a machine that is not Debian's is told the list.
BUILD_PKGS := g++ make zstd libtraceevent-dev libelf-dev zlib1g-dev libzstd-dev liblzma-dev \
              libboost-test-dev
CHECK_PKGS := binutils libxml2-utils pkgconf clang lld gcc-12 trace-cmd qemu-system-x86 busybox-static kmod xz-utils zstd \
              lz4 llvm-19 debian-archive-keyring xfsprogs btrfs-progs
BROWSER_PKGS := chromium
GDB_PKGS   := gdb binutils python3
LINT_PKGS  := clang-format clang-tidy shellcheck groff
deps: build/.deps build/.deps-check build/.deps-lint
build/.deps:       PKGS = $(BUILD_PKGS)
build/.deps-check: PKGS = $(CHECK_PKGS)
build/.deps-lint:  PKGS = $(LINT_PKGS)
build/.deps-browser: PKGS = $(BROWSER_PKGS)
build/.deps-gdb:   PKGS = $(GDB_PKGS)
build/.deps-$(ARCH): PKGS = g++-$(TRIPLET)
build/.deps-check-$(ARCH): PKGS = gcc-12-$(TRIPLET) qemu-system-arm
DEPS := build/.deps build/.deps-check build/.deps-lint build/.deps-browser build/.deps-gdb
ifdef ARCH
DEPS += build/.deps-$(ARCH) build/.deps-check-$(ARCH)
build/.deps: | build/.deps-$(ARCH) $(SYSROOT)/packages
build/.deps-check: | build/.deps-check-$(ARCH)
endif
# Of the machine that ARCH's programs run on.
$(SYSROOT)/packages: Makefile tests/guests/fetch-root.sh
	$(Q)tests/guests/fetch-root.sh $(ARCH) $(filter lib% zlib%,$(BUILD_PKGS)) libstdc++-12-dev && touch $@
$(DEPS): Makefile
	@mkdir -p build; flock build/.deps-lock sh tests/install-packages.sh $(PKGS)  # apt runs once
	@touch $@

demo: $(B)/gpufs $(B)/demo-blocker $(B)/late-timer
	$(Q)sh tests/demo/demo.sh $^ tests/data/trace_dat/drm-6.17.dat
$(B)/demo-blocker: $(call obj,tests/demo/blocker.cc)
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) $^ -o $@

# Rings of tests, each with what it needs; tests/run.sh adds up what they say.
KERNELS   ?= $(addprefix $(ARCH:%=%/),6.1 6.12)
SANITIZED := build/sanitized
# Those that ask this machine's kernel leave the CPUs alone most of the time: beside them, the next
# three run, for which the sanitized library is compiled.
RINGS     := $(if $(ARCH),vm,kernel cli embed unit sanitized fuzz vm)
check: guests $(patsubst %,check-%-needs,$(filter-out sanitized fuzz,$(RINGS)))
	$(Q)B=$(B) KERNELS='$(KERNELS)' MAKEOVERRIDES='$(MAKEOVERRIDES)' bash tests/run.sh $(RINGS)
$(RINGS:%=check-%): check-%: check-%-needs
	$(Q)B=$(B) KERNELS='$(KERNELS)' MAKEOVERRIDES='$(MAKEOVERRIDES)' bash tests/run.sh $*
check-unit-needs: $(B)/gpufs-test
check-kernel-needs check-cli-needs check-embed-needs: $(B)/gpufs $(B)/gpufs-test build/.deps-check
check-cli-needs check-vm-needs: bt-tools
check-sanitized-needs: $(B)/gpufs-test-sanitized
check-fuzz-needs: sanitized
check-vm-needs: guests $(B)/fixed/gpufs $(B)/gpufs-test
# Pages and pictures in Chromium, driven by playwright-core: of its own, for it downloads 80 MB.
check-browser: $(B)/gpufs build/.deps-browser build/browser/node_modules/playwright-core
	$(Q)B=$(B) bash tests/run.sh browser
# How fast pages of a minute of a busy GPU open and move; of another recording: FILE.
bench-page: $(B)/gpufs build/.deps-browser build/browser/node_modules/playwright-core
	$(Q)GPUFS_BIN=$(B)/gpufs bash tests/browser/frames.sh $(FILE)
# The pictures of man/ that README.md shows.
pictures: $(B)/gpufs build/.deps-browser build/browser/node_modules/playwright-core
	$(Q)GPUFS_BIN=$(B)/gpufs bash tests/browser/pictures.sh
# Variables at random lines of a real program, as gdb sees them.
check-gdb: $(B)/gpufs build/.deps-gdb
	$(Q)tests/gdb/run.sh $(B)/gpufs build/gdb
# Random scripts, beside bpftrace 0.17: its package is not installed for it. COUNT=N, SEED=N.
check-bpftrace: $(B)/gpufs $(B)/bench-probe
	$(Q)python3 tests/bench/beside_bpftrace.py $(B)/gpufs $(B)/bench-probe $(or $(COUNT),50) $(or $(SEED),1)
build/browser/node_modules/playwright-core:
	@echo "  NPM   playwright-core"; mkdir -p build/browser
	$(Q)npm install --silent --no-audit --no-fund --prefix build/browser playwright-core@1.65.1
# The kernels of the guests, and the tests' modules for them: downloads, while others compile.
guests: build/.deps-check
	$(Q)for series in $(KERNELS); do \
		tests/guests/fetch-kernel.sh $$series && tests/guests/build-modules.sh $$series || exit 1; done

# bpftrace's tools, without bpftrace.
bt-tools: build/.deps-check
	$(Q)tests/guests/fetch-bt-tools.sh

# The library under clang's sanitizers with the fuzzers, and the tests on it.
GENERATED := $(EMBEDDED:%=$(B)/gen/%.cc) $(B)/gen/syscall_list.inc
sanitized: $(GENERATED) build/.deps build/.deps-check
	$(Q)$(MAKE) -f tests/fuzz/fuzz.mk B=$(SANITIZED) GEN=$(B)/gen QUICK=1
$(B)/gpufs-test-sanitized: sanitized $(call objects,$(TEST)) | $(PROGRAMS)
	@echo "  LD    $@"
	$(Q)clang++ -fsanitize=address,undefined -fuse-ld=lld $(call objects,$(TEST)) \
		$(SANITIZED)/libgpufs.a $(LDLIBS) $(TESTLIBS) -o $@
# As long as FUZZ_SECONDS says, each.
fuzz: $(GENERATED) build/.deps build/.deps-check
	$(Q)$(MAKE) -f tests/fuzz/fuzz.mk GEN=$(B)/gen run SECONDS=$(or $(FUZZ_SECONDS),3600)

# For the guests, where it takes a third of the time to start: at a fixed place, without libraries;
# with what is looked for beside it.
$(B)/fixed/gpufs: $(call objects,$(APP)) $(B)/libgpufs.a $(PROGRAMS)
	@echo "  LD    $@"; mkdir -p $(@D); ln -sfn $(addprefix ../,$(notdir $(PROGRAMS)) cuda hip ze vulkan services) $(@D)
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) $(SMALL) $(filter %.o %.a,$^) $(LDLIBS) -o $@

# The binary that people get, side by side with the peers that are installed; never part of a test.
bench: static $(B)/bench-probe $(CUDA_WORK) $(MOCK_WORK)
	$(Q)GPUFS=build/static/gpufs PROBE=$(B)/bench-probe bash tests/bench/bench.sh
$(B)/bench-probe: $(call obj,tests/bench/probe.cc)
	@echo "  LD    $@"
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) $^ -o $@

lint: build/.deps-lint $(B)/gpufs
	$(Q)B=$(B) bash tests/lint.sh

# The command, its pages, and the library with its interface.
install: $(B)/gpufs
	install -D -m 755 $(B)/gpufs $(DESTDIR)$(PREFIX)/bin/gpufs
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include/gpufs include/gpufs/*.h
	install -D -m 644 $(B)/libgpufs.a $(DESTDIR)$(PREFIX)/lib/libgpufs.a
	mkdir -p $(DESTDIR)$(PREFIX)/lib/pkgconfig
	printf '%s\n' 'prefix=$(PREFIX)' 'Name: gpufs' 'Description: tracing with tracefs and BPF' \
		'Version: $(patsubst v%,%,$(VERSION))' 'Cflags: -I$${prefix}/include' \
		'Libs: -L$${prefix}/lib -lgpufs -ltraceevent -lelf -lz -lzstd -llzma' \
		>$(DESTDIR)$(PREFIX)/lib/pkgconfig/gpufs.pc
	install -D -m 644 src/cmd/completion.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/gpufs
	for page in $(MAN); do install -D -m 644 $$page \
		$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit 1; done

# The kernels of the virtual machines stay: they are downloads, not build results.
clean:
	[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name vm -exec rm -rf {} +
force:
.PHONY: all static demo check $(RINGS:%=check-%) $(RINGS:%=check-%-needs) guests bt-tools sanitized fuzz \
        bench bench-page check-browser pictures check-gdb check-bpftrace lint install deps clean force
.DELETE_ON_ERROR:
