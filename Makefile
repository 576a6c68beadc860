# The door of the project: make demo, make check. See README.md.

PREFIX ?= /usr/local
DESTDIR ?=
# Not empty: the unit is confined further, which needs namespaces; see Documentation/security.md.
HARDENED ?=
# Empty: the programs keep their debug information, which 'make deb' puts into packages of its own.
STRIP = --strip

BINDIR = $(PREFIX)/bin
# Packages use a directory for each architecture.
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
# systemd looks for units below share everywhere; below /usr and /usr/local, packages use lib.
UNITDIR ?= $(PREFIX)/$(if $(filter /usr /usr/local,$(PREFIX)),lib,share)/systemd/user
BUSDIR = $(PREFIX)/share/dbus-1
# systemd reads catalogs below /usr/lib only.
CATALOGDIR = $(PREFIX)/lib/systemd/catalog
MANDIR = $(PREFIX)/share/man
PORTALDIR = $(PREFIX)/share/xdg-desktop-portal/portals
BASHDIR = $(PREFIX)/share/bash-completion/completions
# Below /usr, the zsh of Debian looks for the completions of packages elsewhere than other systems.
DEBIAN = $(wildcard /etc/debian_version)
ZSHDIR ?= $(PREFIX)/share/zsh/$(if $(and $(DEBIAN),$(filter /usr,$(PREFIX))),vendor-completions,site-functions)
FISHDIR = $(PREFIX)/share/fish/vendor_completions.d

RELEASE = .build/release
# Not empty: bench, desktop, fuzz, fleet, packages-test and torture do each of their tasks in its shortest form.
SHORT ?=
THOROUGH = $(if $(SHORT),,--thorough)
MODEL_SECONDS = $(if $(SHORT),10,600)
# Swift's library and that of C++ are linked statically. All symbols are bound at the start, and then their
# tables are read-only. Documentation/figures.md says what each option saves.
LINKED = .build/linked
# A C library before glibc 2.36 does not know packed relocations.
PACKED = $(shell grep --quiet GLIBC_ABI_DT_RELR "$$(gcc -print-file-name=libc.so.6)" && \
	echo -z pack-relative-relocs)
SWIFT_BUILD = .ci/scratch --in $(CURDIR)/.build/scratch swift build --traits Programs --configuration release --static-swift-stdlib --disable-local-rpath \
	-Xswiftc -Xfrontend -Xswiftc -function-sections \
	$(addprefix -Xswiftc ,-file-prefix-map $(CURDIR)=. -Xfrontend -no-clang-module-breadcrumbs) \
	-Xswiftc -use-ld=lld -Xswiftc -L -Xswiftc $(LINKED) -Xswiftc -Xclang-linker -Xswiftc -static-libgcc \
	$(addprefix -Xlinker ,-z now -z relro $(PACKED) --icf=all --no-export-dynamic \
		--no-eh-frame-hdr -T Sources/Programs/sections.ld)
PROGRAMS = defaultsd defaultsctl defaultsd-roam
SWIFT_VERSION = 6.2
CONTRACT = Sources/DefaultsProtocol/org.defaultsd.Defaults1.xml
COMPLETIONS = Sources/defaultsctl/Completion/Scripts
# The library for C. Nothing unloads it, because it has threads.
LIBRARY = .build/library
LIBRARY_OPTIONS = -z now -z relro -z defs -z nodelete $(PACKED) -T Sources/Programs/hashes.ld
VERSION = $(shell sed -n 's/.*current = "\(.*\)"/\1/p' Sources/DefaultsProtocol/Version.swift)
# The backend of GSettings: a module of GIO, which every GTK program loads. So it is in C.
GSETTINGS = .build/gsettings/libgsettingsdefaults.so
GSETTINGS_SOURCES = $(wildcard Sources/GSettingsModule/*.[ch])
# Only the entry points of the module are visible.
GSETTINGS_FLAGS = -std=gnu11 -O2 -g -Wall -Wextra -Werror -fvisibility=hidden -fPIC -shared \
	-D_FORTIFY_SOURCE=2 -fstack-protector-strong -Wl,-z,defs -Wl,-z,now -Wl,-z,relro -ffile-prefix-map=$(CURDIR)=.
GIOMODULEDIR ?= $(or $(if $(filter /usr,$(PREFIX)),$(shell pkg-config --variable=giomoduledir gio-2.0)),$(PREFIX)/lib/gio/modules)
# The services of desktops whose names the daemon can own.
ADOPTED_NAMES = ca.desrt.dconf org.xfce.Xfconf org.freedesktop.impl.portal.desktop.defaultsd
MANUALS = defaultsctl.1 defaultsd.8 defaultsd-roam.8 defaultsd-managed.5 defaultsd-values.5 org.defaultsd.Defaults1.5 \
	libdefaults.3 $(addprefix defaults_,$(addsuffix .3,begin get history last_error open set watch))

# What the build links, what demo and tests run, what only tests need, and what the bench measures
# beside us. What Debian only recommends is not installed, so what is used of it has its own place in a list.
MODULE_PACKAGES = gcc libc6-dev libglib2.0-dev pkg-config
BUILD_PACKAGES = $(MODULE_PACKAGES) libdbus-1-dev libexpat1-dev libyaml-dev libpq-dev libsodium-dev libsqlite3-dev python3
RUN_PACKAGES = dbus-bin dbus-daemon libglib2.0-bin python3-gi systemd strace binutils bubblewrap
TEST_PACKAGES = gobjc libgnustep-base-dev gcc libc6-dev bash-completion fish mandoc zsh \
	gir1.2-gtk-4.0 libgtk-4-dev librust-dbus-dev qt6-base-dev xdotool xvfb \
	debootstrap flatpak gnome-keyring libsecret-tools xdg-dbus-proxy \
	dpkg-dev dconf-cli dconf-service dconf-gsettings-backend gsettings-desktop-schemas libglib2.0-dev-bin \
	gir1.2-xfconf-0 libxfconf-0-dev xfconf g++ libsystemd-dev libuv1-dev xdg-desktop-portal xdg-desktop-portal-gtk \
	mypy python3-typeshed python3-cffi python3-pip python3-pytest python3-setuptools python3-venv python3-yaml \
	openssl pgbouncer postgresql
# What makes Debian packages, and what checks them.
DEB_PACKAGES = build-essential debhelper dh-python dpkg-dev lintian python3-cffi
BENCH_PACKAGES = gcc libc6-dev xfconf libxfconf-0-3 dconf-cli dconf-service dconf-gsettings-backend libdconf-dev libglib2.0-dev-bin \
	postgresql python3-cffi python3-gi python3-pip python3-setuptools
FLEET_PACKAGES = krb5-admin-server krb5-kdc krb5-user pgbouncer postgresql
# What makes clean systems.
ROOT_PACKAGES = debootstrap

# The suites that try a part of what can be wrong in a file, and everything with DEFAULTSD_THOROUGH=1.
FORMAT_TESTS = KeyedArchiveTests|OwnedDocumentsTests|DefaultsFoundationTests|DconfFilesTests|XMLPropertyListTests

.PHONY: all build library gsettings demo check lint test docs picture desktop torture clean-root packages-test fuzz bench fleet \
	install uninstall clean deb setup setup-run setup-test setup-bench setup-fleet setup-deb setup-root

all: build

# The tests refuse programs that are older than their sources, by the time of .build/built.
build: setup gsettings
	@mkdir -p $(LINKED) && touch .build/building
	@ln -sf "$$(gcc -print-file-name=libstdc++.a)" $(LINKED)
	$(SWIFT_BUILD) --target Programs
	$(link_library)
	Sources/Manuals/manuals $(RELEASE) $(RELEASE)/man
	@mv .build/building .build/built

# The library for C alone; build makes it, too.
library: setup
	@mkdir -p $(LINKED)
	@ln -sf "$$(gcc -print-file-name=libstdc++.a)" $(LINKED)
	$(SWIFT_BUILD) --target CDefaults
	$(link_library)

link_library = LINK_OPTIONS="$(LIBRARY_OPTIONS)" .ci/scratch Sources/CDefaults/link $(RELEASE) $(LIBRARY)

gsettings: setup $(GSETTINGS)

$(GSETTINGS): $(GSETTINGS_SOURCES) Makefile
	@.ci/install-packages $(MODULE_PACKAGES)
	@mkdir -p $(@D)
	$(CC) $(GSETTINGS_FLAGS) $(filter %.c,$^) $$(pkg-config --cflags gio-2.0) -o $@ \
		$$(pkg-config --libs gio-2.0)

demo: build setup-run
	Tests/Demo/demo $(CURDIR)/$(RELEASE)

check: lint build docs test

lint: setup
	swift format lint --strict --recursive --parallel Package.swift Sources Tests

# The tests of the first two tiers; see Contributing. The second runs the programs that build makes.
test: build setup-run setup-test
	@Tests/Harness/suite

# The libraries' documentation, in .build/documentation. Fails where something of it is missing. The
# modules are those that the tests use, so that check builds them once.
docs: setup
	.ci/scratch Tests/Harness/suite --build
	.ci/scratch Tests/Documentation/documentation .build/debug/Modules .build/documentation

# All that can break is broken, and faults that are put in on purpose are found; then random calls, restarts and
# kills beside a model of the service.
torture: build setup-run setup-test
	Tests/Torture/torture $(THOROUGH) --programs $(CURDIR)/$(RELEASE)
	Tests/Torture/judge $(CURDIR)/$(RELEASE) $(if $(SHORT),lost-row)
	Tests/Model/model-test --seconds $(MODEL_SECONDS) --programs $(CURDIR)/$(RELEASE)
	.ci/scratch Tests/Harness/suite --build
	for place in memory directory postgres; do \
		.build/debug/RoamTorture $(CURDIR)/$(RELEASE) --engine $$place --seeds $(if $(SHORT),2,40) --steps 500 || exit; done
	.ci/scratch Tests/RoamTorture/ablations $(CURDIR)/$(RELEASE) $(if $(SHORT),"base check")

# Programs and test programs of desktops, unmodified.
desktop: build setup-run setup-test
	Tests/GSettings/gsettings-test $(THOROUGH) --programs $(CURDIR)/$(RELEASE)
	Tests/GSettings/gsettings-test --sanitized --programs $(CURDIR)/$(RELEASE)
	Tests/Xfconf/xfconf-tests --programs $(CURDIR)/$(RELEASE) $(or_skip)
	Tests/Dconf/dconf-tests --programs $(CURDIR)/$(RELEASE) $(or_skip)
	Tests/CDefaults/cdefaults-test $(THOROUGH) --programs $(CURDIR)/$(RELEASE) --library $(CURDIR)/$(LIBRARY)
	Tests/Portal/portal-tests $(CURDIR)/$(RELEASE) $(or_skip)
	Tests/Clients/clients-test --programs $(CURDIR)/$(RELEASE) $(or_skip)
	Tests/Desktop/desktop-proofs $(if $(SHORT),--only mousepad) $(or_skip)

# A program that cannot run here says why, and ends with this status.
or_skip = || [ $$? -eq 77 ]

# What is installed, on a clean Debian that debootstrap makes; as root.
clean-root: build setup-root
	Tests/CleanRoot/clean-root

# The Debian packages, in .build/deb; of another version than the sources with VERSION=.
deb: build setup-deb
	Sources/DebianPackages/packages --version $(VERSION) .build/deb

# The packages on a clean Debian, and built again in other places with other tools' settings; as root.
packages-test: build setup-deb setup-root
	Tests/Packages/packages-test $(THOROUGH)

# The codec of keyed archives, and the tests of all formats at every byte; see Tests/Fuzz/fuzz.
FUZZ_SECONDS ?= $(if $(SHORT),5,60)
fuzz: setup setup-run setup-test
	FUZZ_SECONDS=$(FUZZ_SECONDS) Tests/Fuzz/fuzz
	$(if $(SHORT),,DEFAULTSD_THOROUGH=1) .ci/scratch Tests/Harness/suite --filter '^($(FORMAT_TESTS))\.'

# The picture in the README, of what the programs print in real terminals.
picture: build setup-run
	Documentation/recording/record $(RELEASE) Documentation/recording/defaultsd.svg

# BENCH has its options.
BENCH = $(if $(SHORT),--quick $(addprefix --only ,calls commands gsettings xfconf dconf library roaming))
bench: build setup-run setup-bench
	Tests/Bench/bench $(CURDIR)/$(RELEASE) $(BENCH)

# Many machines of many users at a server of PostgreSQL, and what more of them need. FLEET has its options. It
# is built as the tests are, so that both use the same objects.
FLEET = $(if $(SHORT),--users 5 --seconds 1 --rounds 10)
fleet: build setup-run setup-fleet
	.ci/scratch swift build --traits Programs -Xswiftc -gline-tables-only --product RoamFleet
	.build/debug/RoamFleet $(FLEET) $(or_skip)
	Tests/Kerberos/kerberos-test $(CURDIR)/$(RELEASE) $(or_skip)

install: | $(addprefix $(RELEASE)/,$(PROGRAMS)) $(LIBRARY)/libdefaults.so.1 $(GSETTINGS)
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR)/pkgconfig $(INCLUDEDIR) $(UNITDIR) $(BUSDIR)/services $(BUSDIR)/interfaces \
		$(addprefix $(MANDIR)/man,1 3 5 8) $(BASHDIR) $(ZSHDIR) $(FISHDIR))
	install -m 755 $(STRIP) $(addprefix $(RELEASE)/,$(PROGRAMS)) $(DESTDIR)$(BINDIR)
	install -m 644 $(LIBRARY)/libdefaults.so.1 $(DESTDIR)$(LIBDIR)
	ln -sf libdefaults.so.1 $(DESTDIR)$(LIBDIR)/libdefaults.so
	# The loader knows a library outside of /usr/lib only then. A package does this in its own way.
	$(if $(DESTDIR),,-[ "$$(id -u)" -ne 0 ] || PATH=$$PATH:/usr/sbin:/sbin ldconfig)
	install -m 644 Sources/CDefaults/defaults.h $(DESTDIR)$(INCLUDEDIR)
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' \
		Sources/CDefaults/defaults.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/defaults.pc
	chmod 644 $(DESTDIR)$(LIBDIR)/pkgconfig/defaults.pc
	install -m 644 systemd/defaultsd.service.in $(DESTDIR)$(UNITDIR)/defaultsd.service
	install -m 644 systemd/defaultsd.socket $(DESTDIR)$(UNITDIR)
	install -d $(DESTDIR)$(UNITDIR)/sockets.target.wants
	ln -sf ../defaultsd.socket $(DESTDIR)$(UNITDIR)/sockets.target.wants/defaultsd.socket
	install -m 644 systemd/org.defaultsd.Defaults1.service.in \
		$(DESTDIR)$(BUSDIR)/services/org.defaultsd.Defaults1.service
	install -m 644 systemd/defaultsd-roam.service.in $(DESTDIR)$(UNITDIR)/defaultsd-roam.service
	install -m 644 systemd/org.defaultsd.Roam1.service.in \
		$(DESTDIR)$(BUSDIR)/services/org.defaultsd.Roam1.service
	sed -i 's|@BINDIR@|$(BINDIR)|' $(addprefix $(DESTDIR)$(UNITDIR)/,defaultsd.service defaultsd-roam.service) \
		$(addprefix $(DESTDIR)$(BUSDIR)/services/,org.defaultsd.Defaults1.service org.defaultsd.Roam1.service)
	# 'defaultsctl adopt' makes links to these.
	install -d $(DESTDIR)$(BUSDIR)/adopted-services
	for name in $(ADOPTED_NAMES); do \
		sed 's|@BINDIR@|$(BINDIR)|; s|@NAME@|'$$name'|' systemd/adopted.service.in \
			> $(DESTDIR)$(BUSDIR)/adopted-services/$$name.service && \
		chmod 644 $(DESTDIR)$(BUSDIR)/adopted-services/$$name.service || exit; done
	$(if $(HARDENED),$(install_hardened))
	install -m 644 $(CONTRACT) $(DESTDIR)$(BUSDIR)/interfaces
	install -d $(DESTDIR)$(CATALOGDIR)
	install -m 644 systemd/defaultsd.catalog $(DESTDIR)$(CATALOGDIR)
	for page in $(MANUALS); do \
		install -m 644 $(RELEASE)/man/$$page $(DESTDIR)$(MANDIR)/man$${page##*.} && \
		sed -i 's|@BUSDIR@|$(BUSDIR)|; s|@UNITDIR@|$(UNITDIR)|' \
			$(DESTDIR)$(MANDIR)/man$${page##*.}/$$page || exit; done
	# A backend that no portal asks until the user adopts it.
	install -d $(DESTDIR)$(PORTALDIR)
	install -m 644 systemd/defaultsd.portal $(DESTDIR)$(PORTALDIR)
	install -m 644 $(COMPLETIONS)/defaultsctl.bash $(DESTDIR)$(BASHDIR)/defaultsctl
	install -m 644 $(COMPLETIONS)/_defaultsctl $(DESTDIR)$(ZSHDIR)
	install -m 644 $(COMPLETIONS)/defaultsctl.fish $(DESTDIR)$(FISHDIR)
	# It is below dconf until the user turns it on; see Documentation/desktop.md.
	install -d $(DESTDIR)$(GIOMODULEDIR)
	install -m 644 $(STRIP) $(GSETTINGS) $(DESTDIR)$(GIOMODULEDIR)
	$(list_modules)
	# bash and fish find a script by the name of the command, and people say defaults as on macOS.
	ln -sf defaultsctl $(DESTDIR)$(BASHDIR)/defaults
	ln -sf defaultsctl.fish $(DESTDIR)$(FISHDIR)/defaults.fish

# Programs load a module that is not on GIO's list even if they need nothing of it. A package does this in
# its own way.
GIO_QUERYMODULES = $(shell pkg-config --variable=gio_querymodules gio-2.0)
list_modules = $(if $(DESTDIR),,$(if $(GIO_QUERYMODULES),-$(GIO_QUERYMODULES) $(GIOMODULEDIR)))

define install_hardened
install -d $(DESTDIR)$(UNITDIR)/defaultsd.service.d
install -m 644 systemd/hardened/hardened.conf $(DESTDIR)$(UNITDIR)/defaultsd.service.d
install -m 644 systemd/hardened/defaultsd-helper.socket $(DESTDIR)$(UNITDIR)
install -m 644 systemd/hardened/defaultsd-helper@.service.in \
	$(DESTDIR)$(UNITDIR)/defaultsd-helper@.service
sed -i 's|@BINDIR@|$(BINDIR)|' $(DESTDIR)$(UNITDIR)/defaultsd-helper@.service
endef

# Installing what is built does not build again, so that it can be done as another user.
$(addprefix $(RELEASE)/,$(PROGRAMS)) $(LIBRARY)/libdefaults.so.1 &:
	$(MAKE) build

uninstall:
	rm -f $(addprefix $(DESTDIR)$(BINDIR)/,$(PROGRAMS))
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,libdefaults.so.1 libdefaults.so pkgconfig/defaults.pc)
	rm -f $(DESTDIR)$(INCLUDEDIR)/defaults.h
	rm -f $(addprefix $(DESTDIR)$(UNITDIR)/,defaultsd.service defaultsd.socket defaultsd-roam.service)
	rm -f $(DESTDIR)$(UNITDIR)/sockets.target.wants/defaultsd.socket
	rm -f $(addprefix $(DESTDIR)$(UNITDIR)/,defaultsd.service.d/hardened.conf \
		defaultsd-helper.socket defaultsd-helper@.service)
	[ ! -d $(DESTDIR)$(UNITDIR)/defaultsd.service.d ] || \
		rmdir --ignore-fail-on-non-empty $(DESTDIR)$(UNITDIR)/defaultsd.service.d
	rm -f $(addprefix $(DESTDIR)$(BUSDIR)/services/,org.defaultsd.Defaults1.service org.defaultsd.Roam1.service)
	rm -f $(addprefix $(DESTDIR)$(BUSDIR)/adopted-services/,$(addsuffix .service,$(ADOPTED_NAMES)))
	rm -f $(DESTDIR)$(BUSDIR)/interfaces/org.defaultsd.Defaults1.xml
	rm -f $(DESTDIR)$(PORTALDIR)/defaultsd.portal
	rm -f $(DESTDIR)$(CATALOGDIR)/defaultsd.catalog
	rm -f $(DESTDIR)$(GIOMODULEDIR)/$(notdir $(GSETTINGS))
	$(list_modules)
	for page in $(MANUALS); do rm -f $(DESTDIR)$(MANDIR)/man$${page##*.}/$$page; done
	rm -f $(DESTDIR)$(BASHDIR)/defaultsctl $(DESTDIR)$(ZSHDIR)/_defaultsctl
	rm -f $(DESTDIR)$(FISHDIR)/defaultsctl.fish
	rm -f $(DESTDIR)$(BASHDIR)/defaults $(DESTDIR)$(FISHDIR)/defaults.fish

clean:
	swift package clean

setup:
	@.ci/swift-toolchain $(SWIFT_VERSION)
	@.ci/install-packages $(BUILD_PACKAGES)

setup-run:
	@.ci/install-packages $(RUN_PACKAGES)

setup-test:
	@.ci/install-packages $(TEST_PACKAGES)

setup-bench:
	@.ci/install-packages $(BENCH_PACKAGES)

setup-fleet:
	@.ci/install-packages $(FLEET_PACKAGES)

setup-deb:
	@.ci/install-packages $(DEB_PACKAGES)

setup-root:
	@.ci/install-packages $(ROOT_PACKAGES)
