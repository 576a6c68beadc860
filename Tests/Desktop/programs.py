"""The programs of the proofs, and what is changed in them."""

import dataclasses

from screen import CALM


@dataclasses.dataclass(frozen=True)
class Setting:
    """A setting that shows in the window, with the command by which a user sets it.

    `ours` is the command that does the same with defaultsctl.
    """

    command: tuple[str, ...]
    channel: str = ""
    ours: tuple[str, ...] = ()


def gsettings(schema, key, value, ours=()):
    return Setting(("gsettings", "set", schema, key, value), ours=ours)


def xfconf(channel, name, kind, value, ours=()):
    return Setting(("xfconf-query", "-c", channel, "-p", name, "-n", "-t", kind, "-s", value), channel, ours)


@dataclasses.dataclass(frozen=True)
class Program:
    """One program. `window` matches the title of its window.

    `before` is set before the program starts first. `first_keys` are pressed when its window has come, such as those
    that lead to the page that shows the settings. `keys` are pressed after the settings have been changed: they have
    the program store settings by itself. A program that reads its settings at its start, and stores all it knows at
    its end, has them changed `while_ended`.

    `manager` is the window manager. A program without a frame is ended by a signal, and so is a resident one after
    its window is closed. `clock` says that the program shows the time. `looks` is for programs that show a message
    for some seconds. `places` are relocatable schemas, as SCHEMA:PATH. `differs` are patterns of lines that differ by
    chance, with the reason, and `tolerance` is how many pixels do.
    """

    name: str
    command: str
    window: str
    settings: tuple[Setting, ...]
    packages: str = ""
    before: tuple[Setting, ...] = ()
    first_keys: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    manager: str = "openbox"
    places: tuple[str, ...] = ()
    differs: tuple[tuple[str, str], ...] = ()
    tolerance: int = 0
    has_frame: bool = True
    is_resident: bool = False
    clock: bool = False
    looks: int = CALM
    while_ended: bool = False

    @property
    def needed(self):
        return (self.packages or self.name).split()


BERLIN = ("[{'location': <(uint32 2, <('Berlin', 'EDDT', true, [(0.91746141594945008, 0.23241968454167572)], "
          "[(0.91658875132345297, 0.23387411976724018)])>)>}]")

GSETTINGS_PROGRAMS = (
    Program(
        "mousepad", "mousepad {files}/text.txt", "text.txt", (
            gsettings("org.xfce.mousepad.preferences.view", "show-line-numbers", "true"),
            gsettings("org.xfce.mousepad.preferences.view", "use-default-monospace-font", "false"),
            gsettings("org.xfce.mousepad.preferences.view", "font-name", "DejaVu Sans 16")),
        keys=("ctrl+m",)),
    Program(
        "gedit", "gedit {files}/program.py", "program.py", (
            gsettings("org.gnome.gedit.preferences.editor", "scheme", "oblivion"),
            gsettings("org.gnome.gedit.preferences.editor", "display-line-numbers", "true"),
            gsettings("org.gnome.gedit.preferences.editor", "tabs-size", "4")),
        looks=20,
        keys=("F9",)),
    Program(
        "gnome-text-editor", "gnome-text-editor {files}/text.txt", "text.txt", (
            gsettings("org.gnome.TextEditor", "style-variant", "dark"),
            gsettings("org.gnome.TextEditor", "show-line-numbers", "true"),
            gsettings("org.gnome.TextEditor", "show-grid", "true"))),
    Program(
        "gnome-calculator", "gnome-calculator", "Calculator", (
            gsettings("org.gnome.calculator", "button-mode", "programming"),
            gsettings("org.gnome.calculator", "base", "16")),
        while_ended=True),
    Program(
        "eog", "eog {files}/red.png", "red.png", (
            gsettings("org.gnome.eog.ui", "image-gallery", "true"),
            gsettings("org.gnome.eog.view", "background-color", "#204060")),
        keys=("ctrl+F9",)),
    Program(
        "gnome-clocks", "gnome-clocks", "Clocks", (gsettings("org.gnome.clocks", "world-clocks", BERLIN),),
        clock=True, while_ended=True, is_resident=True),
    Program(
        "pluma", "pluma {files}/program.py", "program.py", (
            gsettings("org.mate.pluma", "color-scheme", "oblivion"),
            gsettings("org.mate.pluma", "display-line-numbers", "true")),
        looks=20,
        keys=("F9",)),
    Program(
        "mate-terminal", "mate-terminal --disable-factory -e cat --title=Terminal", "Terminal", (
            gsettings("org.mate.terminal.profile:/org/mate/terminal/profiles/default/", "use-theme-colors", "false"),
            gsettings("org.mate.terminal.profile:/org/mate/terminal/profiles/default/", "background-color",
                      "#204060"),
            gsettings("org.mate.terminal.global", "use-menu-accelerators", "false")),
        places=("org.mate.terminal.profile:/org/mate/terminal/profiles/default/",)),
    Program(
        "dconf-editor", "dconf-editor", "dconf Editor", (
            gsettings("ca.desrt.dconf-editor.Settings", "show-warning", "false"),),
        # They close the warning.
        keys=("Escape",)),
    Program(
        "evince", "evince {files}/document.pdf", "document.pdf", (
            gsettings("org.gnome.Evince.Default", "inverted-colors", "true"),
            gsettings("org.gnome.Evince.Default", "show-sidebar", "false"),
            gsettings("org.gnome.Evince.Default", "dual-page", "true")),
        keys=("F9",)),
    Program(
        "baobab", "baobab {files}", "Disk Usage|files", (
            gsettings("org.gnome.baobab.ui", "active-chart", "treemap"),),
        clock=True),
    Program(
        "file-roller", "file-roller {files}/archive.zip", "archive.zip", (
            gsettings("org.gnome.FileRoller.Listing", "list-mode", "all-files"),
            gsettings("org.gnome.FileRoller.Listing", "show-size", "false"))),
    Program(
        "mate-calc", "mate-calc", "Calculator", (
            gsettings("org.mate.calc", "button-mode", "programming"),
            gsettings("org.mate.calc", "base", "16"))),
    Program(
        "eom", "eom {files}/blue.png", "blue.png", (
            gsettings("org.mate.eom.ui", "image-collection", "true"),
            gsettings("org.mate.eom.ui", "statusbar", "false"))),
    Program(
        "atril", "atril {files}/document.pdf", "document.pdf", (
            gsettings("org.mate.Atril.Default", "inverted-colors", "true"),
            gsettings("org.mate.Atril.Default", "show-sidebar", "false"))),
    Program(
        "engrampa", "engrampa {files}/archive.zip", "archive.zip", (
            gsettings("org.mate.engrampa.listing", "show-type", "false"),
            gsettings("org.mate.engrampa.ui", "view-statusbar", "false")),
        keys=("F9",)),
    Program(
        "gucharmap", "gucharmap", "Character Map", (
            gsettings("org.gnome.Charmap", "group-by", "block"),
            gsettings("org.gnome.Charmap", "snap-cols-pow2", "true"))),
    Program(
        "four-in-a-row", "four-in-a-row", "turn", (
            gsettings("org.gnome.Four-in-a-row", "theme-id", "1"),),
        # The machine's moves differ each time.
        before=(gsettings("org.gnome.Four-in-a-row", "num-players", "2"),)),
    Program(
        "iagno", "iagno", "Reversi", (
            gsettings("org.gnome.Reversi", "color", "light"),
            gsettings("org.gnome.Reversi", "computer-level", "2")),
        while_ended=True),
    Program(
        "gnome-klotski", "gnome-klotski", "[A-Z]", (gsettings("org.gnome.Klotski", "level", "5"),),
        while_ended=True),
)

XFCONF_PROGRAMS = (
    Program(
        "thunar", "thunar {files}/folder", "folder", (
            xfconf("thunar", "/last-show-hidden", "bool", "true"),
            xfconf("thunar", "/last-view", "string", "ThunarDetailsView")),
        keys=("ctrl+m",)),
    Program(
        "thunar-volman", "thunar-volman-settings", "Removable", (
            xfconf("thunar-volman", "/automount-drives/enabled", "bool", "true"),
            xfconf("thunar-volman", "/autobrowse/enabled", "bool", "true")),
        keys=("Tab", "space")),
    Program(
        "ristretto", "ristretto {files}/red.png", "Image Viewer", (
            xfconf("ristretto", "/window/toolbar/show", "bool", "false"),
            xfconf("ristretto", "/window/thumbnails/show", "bool", "false")),
        before=(xfconf("ristretto", "/errors/missing-thumbnailer", "bool", "false"),)),
    Program(
        "xfwm4-settings", "xfwm4-settings", "Window Manager", (
            xfconf("xfwm4", "/general/title_alignment", "string", "left"),
            xfconf("xfwm4", "/general/title_font", "string", "DejaVu Sans Bold 14"),
            xfconf("xfwm4", "/general/button_layout", "string", "CMH|O")),
        packages="xfwm4", manager="xfwm4"),
    Program(
        "xfwm4-tweaks-settings", "xfwm4-tweaks-settings", "Window Manager Tweaks", (
            xfconf("xfwm4", "/general/cycle_minimum", "bool", "false"),
            xfconf("xfwm4", "/general/cycle_raise", "bool", "true")),
        packages="xfwm4", manager="xfwm4",
        keys=("Tab", "space")),
    Program(
        "xfce4-mouse-settings", "xfce4-mouse-settings", "Mouse", (
            xfconf("xsettings", "/Net/DndDragThreshold", "int", "20"),
            xfconf("xsettings", "/Net/DoubleClickTime", "int", "700")),
        packages="xfce4-settings", first_keys=("ctrl+Next",)),
    Program(
        "xfce4-keyboard-settings", "xfce4-keyboard-settings", "Keyboard", (
            xfconf("keyboards", "/Default/KeyRepeat", "bool", "false"),
            xfconf("keyboards", "/Default/KeyRepeat/Rate", "int", "40"),
            xfconf("xsettings", "/Net/CursorBlink", "bool", "false")),
        packages="xfce4-settings",
        keys=("Tab", "space")),
    Program(
        "xfce4-appearance-settings", "xfce4-appearance-settings", "Appearance", (
            xfconf("xsettings", "/Gtk/FontName", "string", "DejaVu Sans 13"),
            xfconf("xsettings", "/Xft/DPI", "int", "110")),
        packages="xfce4-settings", first_keys=("ctrl+Next", "ctrl+Next")),
    Program(
        "xfce4-accessibility-settings", "xfce4-accessibility-settings", "Accessibility", (
            xfconf("accessibility", "/StickyKeys", "bool", "true"),
            xfconf("accessibility", "/BounceKeys", "bool", "true")),
        packages="xfce4-settings", first_keys=("ctrl+Next",)),
    Program(
        "xfce4-settings-editor", "xfce4-settings-editor", "Settings Editor", (
            xfconf("proof", "/number", "int", "5"),),
        packages="xfce4-settings"),
    Program(
        "xfce4-session-settings", "xfce4-session-settings", "Session", (
            xfconf("xfce4-session", "/chooser/AlwaysDisplay", "bool", "true"),
            xfconf("xfce4-session", "/general/PromptOnLogout", "bool", "false")),
        packages="xfce4-session",
        keys=("Tab", "space")),
    Program(
        "xfce4-appfinder", "xfce4-appfinder --disable-server", "Application Finder", (
            xfconf("xfce4-appfinder", "/icon-view", "bool", "true"),
            xfconf("xfce4-appfinder", "/text-beside-icons", "bool", "true"))),
    Program(
        "xfce4-notifyd-config", "xfce4-notifyd-config", "Notifications", (
            xfconf("xfce4-notifyd", "/do-not-disturb", "bool", "true"),
            xfconf("xfce4-notifyd", "/expire-timeout", "int", "25")),
        packages="xfce4-notifyd"),
    Program(
        "xfce4-panel", "env XFCE_PANEL_MIGRATE_DEFAULT=1 xfce4-panel", "xfce4-panel", (
            xfconf("xfce4-panel", "/panels/panel-1/size", "uint", "44"),
            xfconf("xfce4-panel", "/panels/dark-mode", "bool", "false")),
        has_frame=False, clock=True),
    Program(
        "xfdesktop", "xfdesktop", "Desktop", (
            xfconf("xfce4-desktop", "/desktop-icons/icon-size", "uint", "80"),
            xfconf("xfce4-desktop", "/desktop-icons/file-icons/show-filesystem", "bool", "false")),
        packages="xfdesktop4", has_frame=False),
    Program(
        "parole", "parole", "Parole", (xfconf("parole", "/always-hide-menubar", "bool", "true"),)),
)

PROGRAMS = GSETTINGS_PROGRAMS + XFCONF_PROGRAMS


@dataclasses.dataclass(frozen=True)
class Desktop:
    """A desktop. `commands` start it, and `windows` are what it shows then. `end` is the command that ends it; without
    one its programs are ended by signals. `settings` are changed in three turns: before our daemon is killed, after
    that, and after it has been replaced. Then the keys are pressed in a dialog."""

    name: str
    packages: str
    commands: tuple[str, ...]
    windows: tuple[str, ...]
    settings: tuple[tuple[Setting, ...], ...]
    program: str
    program_window: str
    before: tuple[Setting, ...] = ()
    dialog: str = ""
    dialog_window: str = ""
    dialog_keys: tuple[str, ...] = ()
    end: str = ""
    variables: tuple[tuple[str, str], ...] = ()
    places: tuple[str, ...] = ()
    differs: tuple[tuple[str, str], ...] = ()
    tolerance: int = 0

    @property
    def needed(self):
        return self.packages.split()


XFCE = Desktop(
    "xfce", "xfce4-session xfwm4 xfce4-panel xfdesktop4 xfce4-settings thunar mousepad",
    ("xfce4-session",), ("xfce4-panel", "Desktop"), (
        (xfconf("xfce4-session", "/general/SaveOnExit", "bool", "false"),
         xfconf("xsettings", "/Net/CursorBlink", "bool", "false"),
         xfconf("xsettings", "/Gtk/FontName", "string", "DejaVu Sans 12"),
         xfconf("xfce4-panel", "/panels/panel-1/size", "uint", "40"),
         xfconf("xfwm4", "/general/title_alignment", "string", "left")),
        (xfconf("xfce4-panel", "/panels/dark-mode", "bool", "false",
                ours=("write", "xfconf.xfce4-panel", "/panels/dark-mode", "-bool", "false")),
         xfconf("xfwm4", "/general/button_layout", "string", "CMH|O")),
        (gsettings("org.xfce.mousepad.preferences.view", "show-line-numbers", "true",
                   ours=("write", "org.xfce.mousepad.preferences.view", "show-line-numbers", "-bool", "true")),
         xfconf("xfwm4", "/general/title_font", "string", "DejaVu Sans Bold 14"),
         xfconf("xfce4-panel", "/panels/panel-1/position-locked", "bool", "false"))),
    program="mousepad {files}/text.txt", program_window="text.txt",
    dialog="xfwm4-tweaks-settings", dialog_window="Window Manager Tweaks", dialog_keys=("Tab", "space"),
    end="xfce4-session-logout --logout",
    variables=(("XDG_CURRENT_DESKTOP", "XFCE"), ("XFCE_PANEL_MIGRATE_DEFAULT", "1")),
    differs=(("^keyboards /Default/Numlock", "stored by xfsettingsd at its end, if it is not ended before"),))

CLOCK = "org.mate.panel.applet.clock:/org/mate/panel/objects/clock/prefs/"
TOPLEVEL = "org.mate.panel.toplevel:/org/mate/panel/toplevels"
BACKGROUND = "org.mate.panel.toplevel.background:/org/mate/panel/toplevels"

MATE = Desktop(
    "mate", "mate-panel mate-settings-daemon marco mate-icon-theme mousepad",
    ("marco", "mate-settings-daemon", "mate-panel"), ("Top Panel", "Bottom Panel"), (
        (gsettings("org.mate.interface", "font-name", "DejaVu Sans 12"),
         gsettings("org.mate.interface", "cursor-blink", "false"),
         gsettings("org.mate.Marco.general", "button-layout", "close,maximize:menu"),
         gsettings(f"{TOPLEVEL}/bottom/", "size", "40")),
        (Setting(("dconf", "write", "/org/mate/panel/toplevels/top/size", "36"),
                 ours=("write", "org.mate.panel.toplevels.top", "size", "-int", "36")),
         gsettings("org.mate.Marco.general", "titlebar-font", "DejaVu Sans Bold 14")),
        (gsettings(f"{BACKGROUND}/bottom/background/", "type", "color"),
         gsettings(f"{BACKGROUND}/bottom/background/", "color", "rgb(32,64,96)"),
         Setting(("dconf", "write", "/org/xfce/mousepad/preferences/view/show-line-numbers", "true")))),
    program="mousepad {files}/text.txt", program_window="text.txt",
    # The bus starts the clock, so it has the real time. The panel may read before it has written, with dconf, too.
    before=(gsettings(f"{TOPLEVEL}/bottom/", "orientation", "bottom"),
            gsettings(CLOCK, "format", "custom"), gsettings(CLOCK, "custom-format", "clock")),
    variables=(("XDG_CURRENT_DESKTOP", "MATE"),),
    # By chance, the panel shows the grips of two locked applets or not, with dconf, too.
    tolerance=400,
    places=tuple(f"{TOPLEVEL}/{name}/" for name in ("top", "bottom"))
    + tuple(f"{BACKGROUND}/{name}/background/" for name in ("top", "bottom")))

DESKTOPS = (XFCE, MATE)

ALL = PROGRAMS + DESKTOPS
