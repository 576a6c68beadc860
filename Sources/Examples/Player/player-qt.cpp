/* The preferences of a music player: a window of Qt 6 in C++.
 *
 *     c++ -std=c++17 -fPIC player-qt.cpp -o player-qt $(pkg-config --cflags --libs Qt6Widgets defaults)
 *     ./player-qt & ./player-qt
 *
 * On Debian this needs qt6-base-dev and libdefaults-dev. A box that is checked in one window is checked in the other
 * one, and in the examples of other toolkits and languages. A terminal checks it, too:
 *
 *     defaultsctl write org.example.Player Shuffle -bool true
 */
#include <QApplication>
#include <QCheckBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QSocketNotifier>
#include <QWidget>
#include <cmath>
#include <defaults.h>
#include <memory>

class Preferences : public QWidget {
public:
    Preferences() {
        setWindowTitle("Player");
        auto layout = new QFormLayout(this);
        layout->addRow("&Shuffle", &shuffle);
        layout->addRow("&Volume", &volume);
        layout->addRow("&Name", &name);
        volume.setMaximum(100);
        connect(&shuffle, &QCheckBox::toggled, this, [this](bool isOn) {
            stored(defaults_set_bool(defaults.get(), "Shuffle", isOn));
        });
        connect(&volume, &QSlider::valueChanged, this, [this](int percent) {
            stored(defaults_set_double(defaults.get(), "Volume", percent / 100.0));
        });
        connect(&name, &QLineEdit::textChanged, this, [this](const QString &text) {
            stored(defaults_set_string(defaults.get(), "Name", text.toUtf8().constData()));
        });
        // When the descriptor is readable, the library calls the functions of the watches, on this thread.
        connect(&changes, &QSocketNotifier::activated, this, [this] { defaults_dispatch(defaults.get()); });
        defaults_watch(defaults.get(), nullptr, valueChanged, this, nullptr);
        defaults_watch_failures(defaults.get(), changeRefused, this, nullptr);
        // The first read waits for the service, for two seconds at most. The window is not there yet.
        showValues();
    }

private:
    // What the user does is stored at once. No call waits for the service, not even while a slider is dragged. A key
    // that was locked meanwhile is an error here, and its value is shown again.
    void stored(int error) {
        if (error) showValues();
    }

    // A change by any process. After one of this window, all widgets show the values already.
    static void valueChanged(defaults_t *, const char *, unsigned, void *window) {
        static_cast<Preferences *>(window)->showValues();
    }

    // The service has refused a change, for example because a quota is used up. The key has its old value again.
    static void changeRefused(defaults_t *, const char *, int, const char *message, void *window) {
        qWarning("%s", message);
        static_cast<Preferences *>(window)->showValues();
    }

    // Shows all values. They come from the memory of the process, so this costs less than finding out which one has
    // changed.
    void showValues() {
        // What is shown is not stored: a value of the administrator would become one of the user's own.
        const QSignalBlocker quiet[] = {
            QSignalBlocker(shuffle), QSignalBlocker(volume), QSignalBlocker(name)};
        defaults_t *values = defaults.get();
        shuffle.setChecked(defaults_get_bool(values, "Shuffle", false));
        volume.setValue(int(std::lround(defaults_get_double(values, "Volume", 0.5) * 100)));
        const std::unique_ptr<char, decltype(&defaults_free)> text(
            defaults_get_string(values, "Name", "Living room"), defaults_free);
        // A text that is set again would move the cursor of the user who types it.
        if (const auto shown = QString::fromUtf8(text.get()); shown != name.text()) name.setText(shown);

        // The service refuses changes of what the administrator has locked.
        shuffle.setEnabled(!defaults_is_locked(values, "Shuffle"));
        volume.setEnabled(!defaults_is_locked(values, "Volume"));
        name.setEnabled(!defaults_is_locked(values, "Name"));
    }

    std::unique_ptr<defaults_t, decltype(&defaults_close)> defaults{
        defaults_open("org.example.Player"), defaults_close};
    // It ends before the defaults, which close its descriptor. What the user has changed is still sent.
    QSocketNotifier changes{defaults_fd(defaults.get()), QSocketNotifier::Read};
    QCheckBox shuffle;
    QSlider volume{Qt::Horizontal};
    QLineEdit name;
};

int main(int argc, char **argv) {
    QApplication application(argc, argv);
    Preferences window;
    window.show();
    return application.exec();
}
