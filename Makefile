# assay: build, check, install. `make help` prints the lines that follow, to the first empty one.
# To build:
#   make            build/assay and what belongs beside it
#   make SAN=1      the same with address and undefined-behaviour sanitizers, in build/asan
#   make CC=clang   with clang
#   make LINE_EDITOR=none    without readline (which is GPL-3)
#   make demo       installs what is missing from Debian, builds, and shows the main job, offline
#   make install    below PREFIX (/usr/local), DESTDIR before it; make uninstall
#   make deps       installs what building and testing need; make clean removes build/
# To test (tests/README.md):
#   make check      the quick tests, in a minute and a half
#   make check-all  every test once but those of other sandboxes: before a change is shown
#   make check-ci   what CI runs: both compilers, static checks, every test, with sanitizers, too
#   make check-walls    every attack and set in every sandbox that can be had here, which it installs
#   make asan       the quick tests with sanitizers
#   make fuzz       each fuzzer for FUZZ_SECONDS (30)
#   make tidy       static checks; make layers: who may include whom; make formatted, make format
# To measure (tests/bench/README.md):
#   make bench      what assay costs, beside bare programs and other sandboxes
#   make bench-compare BASE=COMMIT    the same, in turn with an older commit
#   make bench-readme, bench-walls, bench-load, bench-log, bench-keeper, bench-context, bench-llm

VERSION := 0.1.0
SAN ?=
LINE_EDITOR ?= readline
WERROR ?=
B ?= build$(if $(SAN),/asan)
PREFIX ?= /usr/local
PKG_CONFIG ?= pkg-config
# V=1 shows the commands.
Q := $(if $(V),,@)
say = $(if $(V),@:,@printf '  %-8s %s\n')

ifeq ($(origin CC),default)
CC := gcc
endif

MODULES := base llm sandbox verifier audit agent

LIBS_PC := libcjson sqlite3 libpcre2-8 inih libutf8proc libmd zlib
# Like libcurl and libmicrohttpd loaded when first used: only the headers are needed here.
READLINE_PC := $(if $(filter readline,$(LINE_EDITOR)),readline)

PC_CFLAGS = $(shell $(PKG_CONFIG) --cflags-only-I $(LIBS_PC) libcurl libmicrohttpd libseccomp $(READLINE_PC) 2>/dev/null | sed 's/-I/-isystem /g')
PC_LIBS = $(shell $(PKG_CONFIG) --libs $(LIBS_PC) 2>/dev/null)
# The program has them in itself where there are archives, for a library that is looked for, mapped
# and bound at each start takes as long as 50 us. LINK=shared: as every other program.
archive_of = $(if $(findstring /,$(shell $(CC) -print-file-name=lib$(1).a)),-l:lib$(1).a,-l$(1))
OWN_LIBS = $(if $(filter shared,$(LINK)),$(PC_LIBS),$(filter-out -l%,$(PC_LIBS)) \
	$(foreach l,$(patsubst -l%,%,$(filter -l%,$(PC_LIBS))),$(call archive_of,$(l))))

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wformat=2 -Wvla -Wcast-qual \
	-Wswitch-enum -Wstrict-prototypes -Wmissing-prototypes -Wnull-dereference \
	-Wno-missing-field-initializers -Wno-gnu-statement-expression \
	$(if $(findstring clang,$(CC)),-Wno-gnu-zero-variadic-macro-arguments -Wno-language-extension-token,)
ARCH := $(shell uname -m)
HARDENING := -fstack-protector-strong -fstack-clash-protection \
	$(if $(filter x86_64,$(ARCH)),-fcf-protection) -fPIE
HARDENING_LD := -pie -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code
# A program that may lie anywhere is told so in eight thousand words at each start, or, where linker
# and libc know how, in two hundred.
PACKED := $(shell echo 'int main(void) { return 0; }' | $(CC) -fPIE -pie -Wl,--fatal-warnings,-z,pack-relative-relocs -x c -o /dev/null - 2>/dev/null && echo -Wl,-z,pack-relative-relocs)
ifdef SAN
OPT := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
OPT_LD := -fsanitize=address,undefined
else
OPT := -O2 -g -D_FORTIFY_SOURCE=3
OPT_LD :=
endif
CFLAGS ?=
ALL_CFLAGS = -std=gnu11 $(OPT) $(WARNINGS) $(if $(WERROR),-Werror) $(HARDENING) -D_GNU_SOURCE \
	-DASSAY_VERSION='"$(VERSION)"' -DLINE_EDITOR_$(LINE_EDITOR)=1 -I. -I$(B) $(PC_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(HARDENING_LD) $(OPT_LD) $(LDFLAGS)

# --- sources ---
# The filter compiler runs at build time; sandbox/native/keeper/ is its own program.
SECCOMP_SRC := sandbox/native/seccomp.c sandbox/native/seccomp_policy.c
SIEVE_SRC := audit/redact/sieve_compile.c audit/redact/shape.c
LIB_SRC := $(sort $(filter-out agent/cli/main.c $(SECCOMP_SRC) audit/redact/sieve_compile.c \
	sandbox/native/keeper/% sandbox/native/warm/% sandbox/native/hold/%,\
	$(shell find $(MODULES) -name '*.c')))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o) $(B)/embed.o
KEEPER_SRC := $(wildcard sandbox/native/keeper/*.c) sandbox/native/spawn.c
KEEPER_OBJ := $(KEEPER_SRC:%.c=$(B)/%.o)
# Loaded into an interpreter; what it has of the keeper is compiled again, as code that may lie anywhere.
WARM_SRC := $(wildcard sandbox/native/warm/*.c) $(addprefix sandbox/native/keeper/,confine.c util.c walls.c)
WARM_OBJ := $(WARM_SRC:%.c=$(B)/warm/%.o)
HOLD_SRC := $(wildcard sandbox/native/hold/*.c) sandbox/native/keeper/util.c
HOLD_OBJ := $(HOLD_SRC:%.c=$(B)/warm/%.o)
EMBED := sandbox/remote/runner.py sandbox/pyodide/pyodide.js sandbox/restricted/restricted.py $(sort $(shell find prompts verifier/lang agent audit -type f ! -name '*.[ch]' ! -name README.md))
UNIT_SRC := $(wildcard tests/unit/*.c)
UNIT_BIN := $(UNIT_SRC:%.c=$(B)/%)

.PHONY: all demo check check-all check-ci check-walls probes bench bench-compare bench-readme bench-walls bench-log bench-keeper bench-context bench-llm bench-load fuzz asan tidy formatted format install uninstall clean deps help units
all: $(B)/assay $(B)/assay-keeper $(B)/assay-warm.so $(B)/assay-hold.so $(B)/assay-image

help:
	@sed -n '1d;/^$$/q;s/^#//;s/^ //p' Makefile

$(B)/assay: $(B)/agent/cli/main.o $(B)/libassay.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(PACKED) -o $@ $^ $(OWN_LIBS) -ldl -lm

$(B)/libassay.a: $(LIB_OBJ)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) qcs $@ $^

# The filter is compiled once, here; the keeper loads the finished program.
$(B)/seccomp-compile: $(SECCOMP_SRC) sandbox/native/seccomp_policy.h
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) -std=gnu11 -O1 -g $(WARNINGS) $(if $(WERROR),-Werror) -D_GNU_SOURCE -I. $(PC_CFLAGS) -o $@ $(SECCOMP_SRC) $(shell $(PKG_CONFIG) --libs libseccomp)

$(B)/sandbox/native/seccomp_filter.h: $(B)/seccomp-compile
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)$(B)/seccomp-compile $(ARCH) >$@.tmp && mv $@.tmp $@

# What looks like a secret is sorted once, here; the program loads no table for it.
$(B)/sieve-compile: $(SIEVE_SRC) audit/redact/shape.h audit/redact/sieve.h
	@mkdir -p $(@D)
	$(say) LINK $@
	$(Q)$(CC) -std=gnu11 -O1 -g $(WARNINGS) $(if $(WERROR),-Werror) -D_GNU_SOURCE -I. -o $@ $(SIEVE_SRC)

$(B)/audit/redact/sieve_table.h: $(B)/sieve-compile
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)$(B)/sieve-compile >$@.tmp && mv $@.tmp $@

$(B)/audit/redact/prefix.o: $(B)/audit/redact/sieve_table.h

# The keeper: libc only, static, small. Sanitizers cannot run in it: it is pid-1's parent and
# its children live in namespaces without the runtime's files.
$(KEEPER_OBJ): $(B)/%.o: %.c $(B)/sandbox/native/seccomp_filter.h
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(CC) $(filter-out -fsanitize% -fno-sanitize%,$(ALL_CFLAGS)) -MMD -MP -c -o $@ $<

$(B)/assay-keeper: $(KEEPER_OBJ)
	$(say) LINK $@
	$(Q)$(CC) $(filter-out -fsanitize% -fno-sanitize% -fPIE,$(ALL_CFLAGS)) -fPIE -static-pie -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code -o $@ $^

# What a machine's image is made by, beside the keeper. Which languages it has is said by their rows.
$(B)/assay-image: sandbox/microvm/image.sh sandbox/language.c
	$(say) GEN $@
	$(Q)of() { tr '\n' ' ' <sandbox/language.c | grep -oE "$$1" | grep -oE "$$2" | tr -d '"' | sort -u | tr '\n' ' '; }; \
	interpreters=$$(of 'LIST\([^)]*\)' '"/usr/bin/[^"]+"') && packages=$$(of '\.dpkg = LIST\([^)]*\)' '"[^"]+"') && \
	test -n "$$interpreters" -a -n "$$packages" && \
	sed "s,@interpreters@,$$interpreters,; s/@packages@/$$packages/" $< >$@.tmp && chmod 755 $@.tmp && mv $@.tmp $@

$(sort $(WARM_OBJ) $(HOLD_OBJ)): $(B)/warm/%.o: %.c $(B)/sandbox/native/seccomp_filter.h
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(CC) $(filter-out -fsanitize% -fno-sanitize% -fPIE,$(ALL_CFLAGS)) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

$(B)/assay-warm.so: $(WARM_OBJ)
	$(say) LINK $@
	$(Q)$(CC) $(filter-out -fsanitize% -fno-sanitize% -fPIE,$(ALL_CFLAGS)) -fPIC -shared -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code -o $@ $^ -ldl

$(B)/assay-hold.so: $(HOLD_OBJ)
	$(say) LINK $@
	$(Q)$(CC) $(filter-out -fsanitize% -fno-sanitize% -fPIE,$(ALL_CFLAGS)) -fPIC -shared -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code -o $@ $^ -ldl

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(filter $(B)/sandbox/%,$(LIB_OBJ)): $(B)/sandbox/native/seccomp_filter.h

$(B)/embed.S: $(EMBED) Makefile
	@mkdir -p $(@D)
	@{ echo '	.section .rodata'; n=0; for f in $(EMBED); do n=$$((n+1)); \
	  printf '.Lp%d: .asciz "%s"\n.Ld%d: .incbin "%s"\n.Le%d: .byte 0\n' $$n "$$f" $$n "$$f" $$n; done; \
	  printf '	.section .data.rel.ro,"aw"\n	.balign 8\n	.globl embed_table\nembed_table:\n'; n=0; for f in $(EMBED); do n=$$((n+1)); \
	  printf '	.quad .Lp%d, .Ld%d, .Le%d\n' $$n $$n $$n; done; \
	  printf '	.quad 0, 0, 0\n	.type embed_table, %%object\n	.size embed_table, .-embed_table\n	.section .note.GNU-stack,"",%%progbits\n'; } >$@

$(B)/embed.o: $(B)/embed.S
	$(say) AS $@
	$(Q)$(CC) -c -o $@ $<

# --- tests ---
# Those that make the Nth call of the seam in base/io.h fail.
UNIT_FAULTS := test_base_io test_agent_prompt test_batch_results test_audit_faults
$(foreach t,$(UNIT_FAULTS),$(eval UNIT_LDFLAGS_$(t) := -Wl,--wrap=io_open,--wrap=io_openat,--wrap=io_read,--wrap=io_write,--wrap=io_fsync,--wrap=io_datasync,--wrap=io_rename,--wrap=io_unlink,--wrap=io_mkdir,--wrap=io_close))
UNIT_LDFLAGS_test_audit_journal := -Wl,--wrap=statfs
UNIT_LDFLAGS_test_audit_known := -Wl,--wrap=redact_bytes
# It is a keeper itself; init.c is in it.
TEMPLATE_OBJ := $(filter-out %/main.o %/init.o,$(KEEPER_OBJ))
UNIT_LDFLAGS_test_sandbox_template := $(TEMPLATE_OBJ)
$(B)/tests/unit/test_sandbox_template: $(TEMPLATE_OBJ) $(B)/assay-warm.so
# What they test is optimised; they themselves need not be, and compile in a third of the time. With
# sanitizers they are, with the warnings that only come then.
UNIT_OPT := $(if $(SAN),,-O0 -U_FORTIFY_SOURCE)
$(B)/tests/unit/%: tests/unit/%.c $(B)/libassay.a
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(ALL_CFLAGS) $(UNIT_OPT) -Wno-null-dereference $(UNIT_CFLAGS_$*) -MMD -MP -MF $@.d $(ALL_LDFLAGS) $(UNIT_LDFLAGS_$*) -o $@ $< $(B)/libassay.a $(PC_LIBS) -lcmocka -ldl -lm

# The drivers of tests/escape/*.t; the cases are files.
ESCAPE_BIN := $(patsubst %.c,$(B)/%,$(wildcard tests/escape/*.c))
$(ESCAPE_BIN): $(B)/%: %.c $(B)/libassay.a
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(B)/libassay.a $(PC_LIBS) -ldl -lm

units: $(UNIT_BIN) $(ESCAPE_BIN)

# The attacks in C, which the drivers compile themselves where they are not: for check-all, which runs each a dozen times.
ATTACK_BIN := $(patsubst %.c,$(B)/%,$(wildcard tests/escape/cases/*.c))
.PHONY: attacks
attacks: $(ATTACK_BIN)
$(ATTACK_BIN): $(B)/%: %.c $(wildcard tests/escape/cases/*.h)
	@mkdir -p $(@D)
	$(say) ATTACK $@
	$(Q)$(CC) -O1 -w -D_GNU_SOURCE -pthread -o $@ $<

# They compile, with every warning; nothing is made.
UNIT_READ := $(UNIT_SRC:%=read-%) $(patsubst %,read-%,$(wildcard tests/escape/*.c tests/fuzz/*.c tests/bench/*.c))
.PHONY: units-read $(UNIT_READ)
units-read: $(UNIT_READ)
$(UNIT_READ): read-%: % $(B)/libassay.a
	$(say) READ $<
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-null-dereference -fsyntax-only $<

-include $(ESCAPE_BIN:=.d)
-include $(LIB_OBJ:.o=.d) $(KEEPER_OBJ:.o=.d) $(WARM_OBJ:.o=.d) $(HOLD_OBJ:.o=.d) $(B)/agent/cli/main.d $(UNIT_BIN:=.d)

# --- what a person types ---
deps:
	@.ci/deps

# All set-up, then the main job, offline (tests/demo/run says what it shows).
demo:
	@.ci/deps demo
	@$(MAKE) --no-print-directory all
	@tests/demo/run $(B)/assay

# TAP programs. UNIT is C; INTEGRATION uses the built program as a person would; FULL takes minutes.
UNIT_TESTS = $(UNIT_BIN)
# With FULL: nearly two thousand programs, each in the sandbox; what uses up limits on time; and of what
# the others touch the far corners, which take most of the processor seconds. `make check` is to be
# over before one has begun something else: tests/tally tells what is costly.
UNIT_FULL = $(addprefix $(B)/tests/unit/,test_cases_screen test_cases_verdict test_cases_verdict_forked test_cases_cells test_verifier_screen \
	test_verifier_screen_javascript test_verifier_harness test_verifier_tree test_verifier_frames \
	test_verifier_forgery test_base_regex test_audit_redact_work test_sandbox_context test_sandbox_context_liar test_sandbox_forked_lost \
	test_sandbox_loss test_sandbox_stream test_audit_attack test_verifier_slices test_sandbox_ask test_sandbox_forked \
	test_verifier_compiled)
INTEGRATION := $(sort $(wildcard tests/integration/*.t))
INTEGRATION_FULL := $(addprefix tests/integration/,large.t log_forged.t stop.t layers.t ask_budget.t ask_calls.t \
	ask_checks.t ask_form.t context_forged.t batch_caps.t batch_exit.t batch_input.t batch_repeat.t batch_rescore.t \
	batch_resume.t batch_shard.t batch_watch.t bench.t exec_profile.t help.t log_carry.t log_commits.t \
	log_durable.t log_failure.t log_migrate.t log_migrate_2.t log_readers.t one_record.t preview.t rate.t \
	replay_compare.t replay_many.t replay_record.t screening.t task_files.t terminal.t data.t own_environment.t \
	completion.t repl_continue.t repl_saved.t ask_images.t forked.t batch_counts.t ask_look.t context_long.t \
	doors_context.t exec_socket.t machine_told.t picture.t replay_theirs.t repl_socket.t repl_told.t serve_e2b.t serve_e2b_commands.t serve_e2b_large.t tools.t tools_context.t tools_doors.t \
	tools_repl.t command.t firecracker.t foreseen.t log_stats.t machine_image.t replay_class.t replay_fork.t replay_step.t \
	runner_reused.t screen_restricted.t serve_e2b_envd.t serve_e2b_pause.t serve_e2b_watch.t serve_memory.t tally.t)
# What takes longest from beginning to end, first: the others fill the gaps.
LONGEST = $(addprefix tests/integration/,context.t context_repl.t replay.t repl.t serve_mcp.t ask.t serve.t input.t batch.t) \
	$(B)/tests/unit/test_sandbox $(addprefix tests/integration/,repl_view.t serve_wires.t perl.t limits.t signals.t) \
	$(addprefix $(B)/tests/unit/,test_audit_journal test_sandbox_warm) $(addprefix tests/integration/,mcp.t notebook.t)
FULL := $(sort $(wildcard tests/integration/full/*.t) $(wildcard tests/escape/*.t))
# Of other sandboxes, which have to be started first; CI plays a part of each.
WALLS := $(addprefix tests/integration/full/,gvisor.t walls_attacked_docker.t walls_attacked_microvm.t walls_microvm.t \
	walls.t walls_attacked.t walls_docker.t walls_modes.t walls_ordinary.t walls_remote.t walls_ssh.t guest_modes.t lambda_emulator.t \
	remote.t)
export ASSAY ?= $(abspath $(B))/assay

# Unit tests, cases and the quick integration tests: less than a minute and a half on two processors, once
# it is built. Not the cases that each take a run of the sandbox.
check:
	@.ci/deps test
	@$(MAKE) --no-print-directory -j 2 WERROR=1 all units probes layers formatted
	@$(MAKE) --no-print-directory run-check

# What to run before a change is shown: every test but those of other sandboxes (check-walls) at least once, as
# this user and, when that is root, what is about walls, rights and files as an ordinary one, too. To be over in
# twelve minutes on two processors; tests/tally tells at its end what is in the way.
check-all:
	@.ci/deps test
	@$(MAKE) --no-print-directory -j 2 WERROR=1 all units probes attacks
	@tests/layers
	@$(MAKE) --no-print-directory formatted
	@tests/everything --once $(UNIT_TESTS) -- $(INTEGRATION) $(filter-out $(WALLS),$(FULL))

# What CI runs: check-all's tests and a part of check-walls', with sanitizers and as an ordinary user, too (tests/README.md
# says which), both compilers, static checks. What is only compiled, to see that it can be, is not optimised, and the
# unit tests are only read by clang.
check-ci:
	@.ci/deps walls
	@$(MAKE) --no-print-directory -j 2 WERROR=1 all units probes attacks
	@$(MAKE) --no-print-directory -j 2 WERROR=1 CC=clang B=build/clang OPT=-O0 all units-read
	@$(MAKE) --no-print-directory -j 2 WERROR=1 SAN=1 all units
	@$(MAKE) --no-print-directory WERROR=1 LINE_EDITOR=none plain
	@tests/layers
	@$(MAKE) --no-print-directory formatted
	@$(MAKE) --no-print-directory tidy
	@tests/everything $(UNIT_TESTS) -- $(INTEGRATION) $(FULL)

# Other sandboxes, whole, and what check-all and CI have a part of: some twenty minutes.
check-walls:
	@.ci/deps walls
	@$(MAKE) --no-print-directory -j 2 WERROR=1 all units probes attacks
	@tests/tally -j $$(($$(nproc) + 1)) $(WALLS) tests/integration/full/warm.t

# Without readline: the one file that knows of it (tests/layers) is another, the rest is the same.
.PHONY: plain
plain: $(B)/libassay.a $(B)/agent/cli/main.o
	@mkdir -p $(B)/plain
	$(say) PLAIN $(B)/plain/assay
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $(B)/plain/line.o agent/cli/terminal/line.c
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $(B)/plain/assay $(B)/agent/cli/main.o $(B)/plain/line.o $(B)/libassay.a $(PC_LIBS) -ldl -lm

.PHONY: run-check
run-check:
	@tests/tally -j $$(($$(nproc) + 3)) $(LONGEST) $(filter-out $(UNIT_FULL) $(LONGEST),$(UNIT_TESTS)) \
		$(filter-out $(INTEGRATION_FULL) $(LONGEST),$(INTEGRATION))

asan:
	@$(MAKE) --no-print-directory SAN=1 WERROR=1 all units
	@$(MAKE) --no-print-directory SAN=1 run-check

# Static checks; warnings are errors. Every header compiles alone.
tidy: $(B)/sandbox/native/seccomp_filter.h
	$(say) HEADERS '$(MODULES)'
	$(Q)find $(MODULES) -name '*.h' | xargs -P 2 -I{} $(CC) $(ALL_CFLAGS) -Werror -fsyntax-only -x c -include stddef.h {}
	$(say) CPPCHECK '$(MODULES)'
	$(Q)cppcheck --quiet --std=c11 --language=c --error-exitcode=1 -j 2 --inline-suppr \
		--enable=warning,portability --suppress=missingIncludeSystem --suppress=varFuncNullUB \
		-D_GNU_SOURCE -D__x86_64__ -DLINE_EDITOR_readline -I. $(MODULES)

.PHONY: layers
layers:
	@tests/layers

# The whole tree is as `make format` leaves it.
formatted:
	$(say) FORMATTED '$(MODULES) tests'
	$(Q)clang-format --dry-run -Werror $(shell find $(MODULES) tests -name '*.[ch]')

format:
	clang-format -i $(foreach m,$(MODULES) tests,$(shell find $(m) -name '*.[ch]'))

# One table of what assay costs beside the same programs bare and in other sandboxes; the samples go
# to build/bench.json. BENCH_ROUNDS: how often; BENCH_ONLY: rows, by how their names begin.
# bench-compare BASE=COMMIT builds that one and measures both in turn; BASE=FILE.json compares with a
# saved run. bench-readme measures and puts the table into README.md, and what sandboxes cost into its table of
# walls; bench-walls measures those alone, with what has to be started for some (as root). bench-log, bench-keeper,
# bench-context and bench-llm each print a table of their own (tests/bench/README.md).
BENCH_ROUNDS ?= 60
BENCH_SECONDS ?= 150
BENCH_ONLY ?=
BENCH_ARGS = --rounds $(BENCH_ROUNDS) --seconds $(BENCH_SECONDS) $(if $(BENCH_ONLY),--only $(BENCH_ONLY))
PROBE_BIN := $(patsubst %.c,$(B)/%,$(wildcard tests/bench/probe_*.c))
BENCH_BIN := $(patsubst %.c,$(B)/%,$(wildcard tests/bench/*.c))
$(B)/tests/bench/%: tests/bench/%.c $(B)/libassay.a
	@mkdir -p $(@D)
	$(say) BENCH $@
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(B)/libassay.a $(PC_LIBS) -ldl -lm
-include $(BENCH_BIN:=.d)

probes: all $(PROBE_BIN)

bench: probes
	@tests/bench/bench run $(BENCH_ARGS) --json $(B)/bench.json

bench-context: all $(B)/tests/bench/bench_context
	@$(B)/tests/bench/bench_context

bench-compare: probes
	@test -n '$(BASE)' || { echo 'bench-compare: BASE=COMMIT or BASE=FILE.json is missing' >&2; exit 2; }
	@tests/bench/bench compare $(BENCH_ARGS) --json $(B)/bench-compare.json '$(BASE)'

bench-readme: bench
	@tests/bench/bench readme $(B)/bench.json README.md

bench-walls: probes
	@tests/bench/walls $(B)/bench-walls.json --rounds $(BENCH_ROUNDS) --seconds $(BENCH_SECONDS)
	@tests/bench/bench walls $(B)/bench-walls.json README.md

# RUNS=1000000 for the figures of a large log; some 0.2 ms each.
RUNS ?= 100000
bench-log: $(B)/tests/bench/bench_audit
	@$< $(RUNS)

bench-keeper: all $(B)/tests/bench/bench_keeper
	@$(B)/tests/bench/bench_keeper

bench-llm: $(B)/tests/bench/bench_llm
	@$<

# Clients of `assay serve`, each with one request at a time; ten minutes are SECONDS=600.
SECONDS ?= 30
CLIENTS ?= 64
bench-load: all
	@tests/bench/load --assay $(B)/assay --seconds $(SECONDS) --clients $(CLIENTS)

# Fuzzers (clang's): what a model or a program can write reaches these parsers. Each runs for
# FUZZ_SECONDS; what it finds is left in build/fuzz/found/. A thousand seconds are some
# five million executions of sse and of wire, which begin with the recorded responses.
FUZZ_SECONDS ?= 30
FUZZ_OPT := -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=undefined
FUZZ := $(sort $(wildcard tests/fuzz/*.c))
FUZZ_BIN := $(FUZZ:%.c=$(B)/%)
$(B)/tests/fuzz/%: tests/fuzz/%.c $(B)/libassay.a
	@mkdir -p $(@D)
	$(say) FUZZ $@
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $< $(B)/libassay.a $(PC_LIBS) -ldl -lm

.PHONY: run-fuzz
fuzz:
	@$(MAKE) --no-print-directory CC=clang B=build/fuzz OPT='$(FUZZ_OPT) -fsanitize=fuzzer-no-link,address,undefined' \
		OPT_LD='-fsanitize=address,undefined' run-fuzz

run-fuzz: $(FUZZ_BIN)
	@mkdir -p $(B)/corpus $(B)/found
	@tests/fuzz/seed $(B)/corpus
	@for f in $(FUZZ:tests/fuzz/%.c=%); do echo "== $$f"; mkdir -p $(B)/corpus/$$f; \
		$(B)/tests/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -max_len=20000 \
			-print_final_stats=1 -artifact_prefix=$(B)/found/$$f- $(B)/corpus/$$f 2>$(B)/found/$$f.log || \
			{ tail -n 40 $(B)/found/$$f.log; exit 1; }; \
		grep -e 'number_of_executed_units' $(B)/found/$$f.log; done

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/assay $(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 755 $(B)/assay $(DESTDIR)$(PREFIX)/bin/assay
	install -m 755 $(B)/assay-keeper $(DESTDIR)$(PREFIX)/libexec/assay/assay-keeper
	install -m 755 $(B)/assay-warm.so $(DESTDIR)$(PREFIX)/libexec/assay/assay-warm.so
	install -m 755 $(B)/assay-hold.so $(DESTDIR)$(PREFIX)/libexec/assay/assay-hold.so
	install -m 755 $(B)/assay-image $(DESTDIR)$(PREFIX)/libexec/assay/assay-image
	$(B)/assay completion man >$(DESTDIR)$(PREFIX)/share/man/man1/assay.1
	$(B)/assay completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/assay
	$(B)/assay completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_assay
	$(B)/assay completion fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/assay.fish

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/assay $(DESTDIR)$(PREFIX)/libexec/assay/assay-keeper \
		$(DESTDIR)$(PREFIX)/libexec/assay/assay-warm.so \
		$(DESTDIR)$(PREFIX)/libexec/assay/assay-hold.so \
		$(DESTDIR)$(PREFIX)/libexec/assay/assay-image \
		$(DESTDIR)$(PREFIX)/share/man/man1/assay.1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/assay \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_assay \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/assay.fish

clean:
	rm -rf build
