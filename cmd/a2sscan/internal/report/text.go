package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

const maxName = 80

// maxMarks is the maximum number of combining marks after a character. More marks would
// cover the lines above and below.
const maxMarks = 2

// Shown returns text from strangers in the form that the page shows, with at most limit
// characters. Invisible characters, changes of the writing direction and bytes that are not
// UTF-8 become escapes. Surplus combining marks are removed, and so are characters that
// join symbols to one picture. The result is not yet escaped for HTML.
func Shown(s string, limit int) string {
	s = strings.TrimSpace(s)
	var b strings.Builder
	marks, symbol := 0, false
	for at := 0; at < len(s) && b.Len() < 8*limit; {
		r, n := utf8.DecodeRuneInString(s[at:])
		letter := s[at : at+n]
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > maxMarks {
				letter = ""
			}
		case r == '\u200d' && symbol:
			letter = ""
		default:
			marks, symbol = 0, unicode.In(r, unicode.So, unicode.Sk)
		}
		b.WriteString(letter)
		at += n
	}
	return console.Plain(b.String(), limit)
}

var functions = template.FuncMap{
	// functions that describe the stats
	"when": when, "trust": trust, "distributions": distributions, "questions": questions,
	"facts": facts, "ledger": ledger, "openGames": openGames, "byCount": byCount, "flagRule": flagRule,
	"otherSystems": func(s *census.Stats) []string { // the systems that the bar omits
		return rest("system", &s.Systems, s.Systems.Top[min(systemsInBar, len(s.Systems.Top)):])
	},
	"farms": func(s *census.Stats) []census.Farm { return s.Farms.Top[:min(len(s.Farms.Top), farmsShown)] },
	// functions that format values
	"game": nameOf, "named": named, "shown": Shown, "number": number, "percent": percent, "width": width,
	"sentence": sentence, "reasons": reasons, "first": first, "plural": console.Plural[uint64],
	"base":  func(file string) string { return Shown(filepath.Base(file), maxName) },
	"minus": func(a, b uint64) uint64 { return a - min(a, b) },
	"more":  func(found uint64, shown int) uint64 { return found - min(found, uint64(shown)) },
}

func first(n int, list any) any {
	v := reflect.ValueOf(list)
	return v.Slice(0, min(n, v.Len())).Interface()
}

// named returns the first name that is not empty, as the page shows it, or "(no name)".
func named(names ...string) string {
	return cmp.Or(Shown(cmp.Or(names...), maxName), "(no name)")
}

func number(n uint64) string { return console.Grouped(n) }

// rounded formats a number, with at most one decimal if it is below 100. NaN means unknown.
func rounded(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v < 0:
		return "−" + rounded(-v)
	}
	if v >= 100 || v == math.Trunc(v) {
		return number(uint64(math.Round(v)))
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}

func percent(part, all uint64) string {
	if all == 0 {
		return "–"
	}
	return percentOf(float64(part) / float64(all))
}

// percentOf formats a share as a percentage. It has more decimals near 0 % and near 100 %, so
// that only nothing is 0% and only all is 100%.
func percentOf(share float64) string {
	v := 100 * share
	switch {
	case math.IsNaN(v):
		return "–"
	case v == 0 || v == 100:
		return fmt.Sprintf("%.0f%%", v)
	case v < 0.01:
		return "< 0.01%"
	case v > 99.99 && v < 100:
		return "> 99.99%"
	case v < 0.1 || v > 99.9 && v < 100:
		return fmt.Sprintf("%.2f%%", v)
	}
	return fmt.Sprintf("%.1f%%", v)
}

func width(part, largest uint64) string {
	if largest == 0 {
		return "0%"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(largest))
}

func signed(now, before uint64) string {
	switch {
	case now > before:
		return "+" + number(now-before)
	case now < before:
		return "−" + number(before-now)
	}
	return "±0"
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

func reasons(all []string) string {
	return Shown(strings.ReplaceAll(strings.Join(all, " and "), "_", " "), maxName)
}
