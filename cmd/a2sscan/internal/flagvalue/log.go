package flagvalue

import (
	"errors"
	"log/slog"
	"strings"
)

// LogFormat is the value of a flag for the format of the log.
type LogFormat struct{ JSON, Given bool }

// Set parses "text" or "json".
func (f *LogFormat) Set(s string) error {
	if s != "text" && s != "json" {
		return errors.New("want text or json")
	}
	*f = LogFormat{s == "json", true}
	return nil
}

func (f *LogFormat) String() string {
	if f.JSON {
		return "json"
	}
	return "text"
}

// Type returns the placeholder of the value in the help.
func (f *LogFormat) Type() string { return "FORMAT" }

// LogLevel is the value of a flag for the lowest level that is logged.
type LogLevel struct {
	slog.Level
	Given bool
}

// Set parses a level: debug, info, warn or error.
func (l *LogLevel) Set(s string) error {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if s == strings.ToLower(level.String()) {
			*l = LogLevel{level, true}
			return nil
		}
	}
	return errors.New("want debug, info, warn or error")
}

func (l *LogLevel) String() string { return strings.ToLower(l.Level.String()) }

// Type returns the placeholder of the value in the help.
func (l *LogLevel) Type() string { return "LEVEL" }
