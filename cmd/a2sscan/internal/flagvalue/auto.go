package flagvalue

import "time"

// Auto is a duration, or "auto" to let the scan choose one.
type Auto struct {
	D  time.Duration
	On bool // the value is "auto"
}

// autoWord is the flag's value that lets the scan choose.
const autoWord = "auto"

// Set parses a duration or "auto".
func (a *Auto) Set(s string) error {
	if s == autoWord {
		*a = Auto{On: true}
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return err
	}
	*a = Auto{D: d}
	return nil
}

// String formats a as Set parses it.
func (a *Auto) String() string {
	if a.On {
		return autoWord
	}
	return a.D.String()
}

func (a *Auto) Type() string { return "auto|D" }

// Or returns the duration, or the argument if the value is "auto".
func (a *Auto) Or(auto time.Duration) time.Duration {
	if a.On {
		return auto
	}
	return a.D
}
