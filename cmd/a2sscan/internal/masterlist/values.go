package masterlist

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// Limits is the value of a flag for limits on the rate of requests, such as
// 15/1m,60/5m.
type Limits []master.Limit

// Set parses limits, each as N/D, separated by commas; 0 means no limit.
func (l *Limits) Set(s string) error {
	*l = Limits{}
	if s == "0" {
		return nil
	}
	for word := range strings.SplitSeq(s, ",") {
		count, span, _ := strings.Cut(word, "/")
		n, err1 := strconv.Atoi(count)
		d, err2 := time.ParseDuration(span)
		if err1 != nil || err2 != nil || n < 1 || d <= 0 {
			return errors.New("want requests in a span of time, such as 15/1m,60/5m, or 0")
		}
		*l = append(*l, master.Limit{Requests: n, In: d})
	}
	return nil
}

func (l *Limits) String() string { return LimitsText(*l) }

// LimitsText formats limits as Set parses them.
func LimitsText(ls []master.Limit) string {
	var words []string
	for _, l := range ls {
		words = append(words, fmt.Sprintf("%d/%s", l.Requests, span(l.In)))
	}
	return strings.Join(words, ",")
}

// span formats a duration without zero seconds: 5m, not 5m0s.
func span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	return s
}

// Type returns the placeholder of the value in the help.
func (l *Limits) Type() string { return "N/D" }

// Count is the value of a flag for a number of retries. It distinguishes 0 from a
// flag that was not given.
type Count struct {
	n   int
	set bool
}

// Set parses a number.
func (c *Count) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 16)
	*c = Count{int(n), true}
	if err != nil {
		return errors.New("want a number such as 3")
	}
	return nil
}

func (c *Count) String() string {
	if !c.set {
		return ""
	}
	return strconv.Itoa(c.n)
}

// Type returns the placeholder of the value in the help.
func (c *Count) Type() string { return "N" }

// config converts the number for package master, where 0 means the default and
// scanner.Off means no retries.
func (c *Count) config() int {
	switch {
	case !c.set:
		return 0
	case c.n == 0:
		return scanner.Off
	}
	return c.n
}
