import DefaultsTerms
import Testing

/// Which keys keep where something was left.
@Suite struct StateKeysTests {
    @Test(arguments: [
        ("thunar", "/last/window-width"), ("thunar", "/last/separator-position"),
        ("org.gnome.gedit.state.window", "side-panel-active"),
        ("/org/gnome/nautilus/window-state/", "start-with-sidebar"),
        ("org.gtk.Settings.FileChooser", "window-size"), ("org.example.App", "WindowMaximized"),
        ("org.example.App", "main-window-geometry"), ("org.gnome.control-center", "last-panel"),
        ("org.example.App", "window_is_maximized"), ("thunar", "/last-view"),
        ("org.gtk.settings.file-chooser", "date-format"), ("org.example.App", "is-maximized"),
    ])
    func `The size and the place of a window is state`(domain: String, key: String) {
        #expect(HistoryTerms.isState(key, in: domain))
    }

    @Test(arguments: [
        ("xsettings", "/Gtk/FontName"), ("org.gnome.desktop.interface", "font-name"),
        ("xfwm4", "/general/window_opacity"), ("org.example.App", "window-border-width"),
        ("org.example.App", "blast/radius"), ("org.example.App", "last"),
        ("org.gnome.desktop.wm.preferences", "button-layout"), ("org.example.states", "Width"),
        ("org.example.App", ""), ("", "/"),
    ])
    func `What a person chooses is not`(domain: String, key: String) {
        #expect(!HistoryTerms.isState(key, in: domain))
    }
}
