package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Wrap breaks a line at spaces into rows of at most width columns, and indents all rows
// but the first. It does not break a word that is too long for a row.
func Wrap(line string, width, indent int) (rows []string) {
	for {
		cells, space, cut := 0, -1, -1
		for i, r := range line {
			if r == ' ' && cells > indent && strings.TrimLeft(line[i:], " ") != "" {
				space = i
			}
			if cells++; cells > width && space > 0 {
				cut = space
				break
			}
		}
		if cut < 0 {
			return append(rows, line)
		}
		rows = append(rows, strings.TrimRight(line[:cut], " "))
		line = strings.Repeat(" ", indent) + strings.TrimLeft(line[cut:], " ")
	}
}

// Plural formats a number with the singular or plural of a noun: 1 fragment, 2
// fragments, 1,200 addresses.
func Plural[N int | uint64](n N, thing string) string {
	return Grouped(uint64(n)) + " " + Things(n, thing)
}

// Things returns the noun in thing: the singular if n is 1, and otherwise the plural.
func Things[N int | uint64](n N, thing string) string {
	switch {
	case n == 1:
		return thing
	case thing == "person":
		return "people"
	case strings.HasSuffix(thing, "s"):
		return thing + "es"
	}
	return thing + "s"
}

// NumberList formats sorted numbers with ranges: 0-3, 5, 7. After ten numbers or ranges, it
// ends with "…".
func NumberList(numbers []int) string {
	var spans []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if j > i {
			spans = append(spans, fmt.Sprintf("%d-%d", numbers[i], numbers[j]))
		} else {
			spans = append(spans, fmt.Sprint(numbers[i]))
		}
		i = j + 1
	}
	if len(spans) > 10 {
		spans = append(spans[:10], "…")
	}
	return strings.Join(spans, ", ")
}

// SumOf formats the counters m as a sum: " = 3 ok + 1 partial". It omits counters that are
// zero, and returns "" if all are zero.
func SumOf(m map[string]uint64, words []string) string {
	if s := Listed(m, words, " + "); s != "" {
		return " = " + s
	}
	return ""
}

// Nearest returns the name that the user probably meant: the name most similar to word. It
// returns "" if no name is similar enough.
func Nearest(word string, names []string) (best string) {
	word = strings.ToLower(strings.ReplaceAll(word, "_", "-"))
	least := min(len(word), 1+max(2, len(word)/4)) // at least one byte must be the same
	for _, name := range names {
		d := distance(word, name)
		if strings.HasPrefix(name, word+"-") {
			d = min(d, 2)
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}

// distance returns how many edits turn a into b. An edit inserts, removes or changes a
// byte, or swaps two neighbouring bytes.
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

// Listed formats those counters in m that are not zero, in the order of words. With the
// separator " + ", the result is like "3 ok + 1 partial".
func Listed(m map[string]uint64, words []string, between string) string {
	var parts []string
	for _, w := range words {
		if m[w] > 0 {
			parts = append(parts, Grouped(m[w])+" "+w)
		}
	}
	return strings.Join(parts, between)
}

// Words returns word(0), word(1) and so on up to word(n-1).
func Words[T ~uint8](n T, word func(T) string) []string {
	var all []string
	for v := range n {
		all = append(all, word(v))
	}
	return all
}

// CheckPort returns an error if the text ends in a port that is too large, as 80800 or
// 127.0.0.1:80800.
func CheckPort(text string) error {
	port := text[strings.LastIndexByte(text, ':')+1:]
	n, err := strconv.ParseUint(port, 10, 64)
	if n > math.MaxUint16 && (err == nil || errors.Is(err, strconv.ErrRange)) {
		return errors.New("a port is at most 65535")
	}
	return nil
}

// WithoutPath returns the error inside an fs.PathError or os.LinkError, so that the file is
// not named. It returns any other error unchanged.
func WithoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok { // from renaming a file
		return l.Err
	}
	return err
}

// Percent formats a part of a total as a whole percentage: 12%. If the total is 0, it
// returns "–".
func Percent(part, all uint64) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(all))
}

// ExactPercent formats a share from 0 to 1 as a percentage with at most three significant
// digits: 9.09%.
func ExactPercent(share float64) string {
	return strconv.FormatFloat(share*100, 'g', 3, 64) + "%"
}

// Clock formats a duration as minutes and seconds, 1:02, or with hours, 1:02:03.
func Clock(d time.Duration) string {
	s := int(d.Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// RoughDuration formats a duration as a rounded number of one unit: 9 s, 12 min, 3 h, 4
// days. A fraction of a second becomes 1 s. For more than 100 years it gives no number,
// because d may then be the maximum Duration, which stands for any longer time.
func RoughDuration(d time.Duration) string {
	if d > 0 {
		d = max(d, time.Second)
	}
	in := func(unit time.Duration) int64 { return int64(d.Round(unit) / unit) }
	switch {
	case in(time.Second) <= 99:
		return fmt.Sprintf("%d s", in(time.Second))
	case in(time.Minute) <= 99:
		return fmt.Sprintf("%d min", in(time.Minute))
	case in(time.Hour) <= 48:
		return fmt.Sprintf("%d h", in(time.Hour))
	case d > 100*365*24*time.Hour:
		return "more than 100 years"
	}
	return fmt.Sprintf("%d days", in(24*time.Hour))
}

// Every starts a goroutine that calls do() at intervals. The returned function ends the
// goroutine, and waits for a running call of do().
func Every(every time.Duration, do func()) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				do()
			}
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}

// Pause waits until d has passed or ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// PerSecond formats a rate in datagrams per second. The rate 0 means that there is no
// limit.
func PerSecond(rate float64) string {
	if rate == 0 {
		return "as fast as possible"
	}
	return Short(rate) + " datagrams per second"
}

// Bytes formats a number of bytes with a decimal unit: 999 B, 1.2 MB.
func Bytes(n uint64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// PercentDown formats a share from 0 to 1 as a percentage with two decimals and without
// the percent sign. It rounds down: 0.99999 is 99.99, not 100.00.
func PercentDown(share float64) string {
	return fmt.Sprintf("%.2f", math.Floor(1e4*share+1e-9)/100)
}

// Grouped formats a number with commas: 1,234,567.
func Grouped(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Short formats a number with about three digits, and with k, M, G or T if it is large:
// 800, 5k, 12.3k, 1.5M. A negative number means no limit.
func Short(v float64) string {
	unit := ""
	switch {
	case v < 0:
		return "unlimited"
	case v >= 999.5e9:
		v, unit = v/1e12, "T"
	case v >= 999.5e6:
		v, unit = v/1e9, "G"
	case v >= 999.5e3:
		v, unit = v/1e6, "M"
	case v >= 1e3:
		v, unit = v/1e3, "k"
	}
	digits := 0
	switch {
	case v < 9.995 && v != math.Trunc(v):
		digits = 2
	case v < 99.95 && v != math.Trunc(v):
		digits = 1
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if digits > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s + unit
}

// JSON returns v as JSON with a newline at the end. Invisible characters in strings are
// escaped. indent is the indentation of each level; if indent is empty, the JSON has one
// line.
func JSON(v any, indent string) (text []byte, err error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err = e.Encode(v)
	for line := range bytes.Lines(b.Bytes()) {
		text = append(append(text, Visible(bytes.TrimSuffix(line, []byte("\n")))...), '\n')
	}
	return text, err
}

// Visible returns a line of JSON with all invisible characters replaced by \u escapes. The
// value stays the same, because these characters can occur only in strings.
func Visible(line []byte) []byte {
	var b []byte
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRune(line[i:])
		switch {
		case unicode.IsPrint(r) && (r != utf8.RuneError || n > 1):
			b = append(b, line[i:i+n]...)
		case r > 0xFFFF:
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
		i += n
	}
	return b
}

// Columns returns how many columns of a screen s takes. Wide characters take two.
func Columns(s string) int { return uniseg.StringWidth(s) }

// Pad pads s with spaces to a number of columns.
func Pad(s string, columns int) string { return s + strings.Repeat(" ", max(columns-Columns(s), 0)) }

// Shorten returns s in a form that is safe to show and takes at most the given number of
// columns on a screen. If the text is cut, it ends with "…".
func Shorten(s string, columns int) string {
	s = Plain(s, 4*columns)
	if Columns(s) <= columns {
		return s
	}
	var b strings.Builder
	left, state := columns-1, -1
	for len(s) > 0 {
		var cluster string
		var wide int
		cluster, s, wide, state = uniseg.FirstGraphemeClusterInString(s, state)
		if wide > left {
			break
		}
		b.WriteString(cluster)
		left -= wide
	}
	return b.String() + "…"
}

// TimeOfDay returns the local time of day for a Unix time: 15:04:05.
func TimeOfDay(unix int64) string { return time.Unix(unix, 0).Format(time.TimeOnly) }

// MaxBadLines is how many bad input lines a command reports one by one. For further lines,
// the command reports only their number, so that a wrong file does not flood the screen.
const MaxBadLines = 20
