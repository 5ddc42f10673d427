package censusfile

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Order says in which order to print records, and how many.
type Order struct {
	Field string // the field to sort by; "" for the order of the files
	Falls bool   // the largest value comes first
	Most  int    // the maximum number of records; 0: all
}

// ParseOrder returns the Order for a field and a maximum number of records. With a minus
// before the field, the largest value comes first.
func ParseOrder(field string, most int) (o Order, err error) {
	o.Most = most
	o.Field, o.Falls = strings.CutPrefix(field, "-")
	if most < 0 {
		return o, console.Fail(console.ExitUsage, "-n: the number of records can't be negative")
	}
	if field != "" {
		err = checkFields("--sort", []string{o.Field})
	}
	return o, err
}

// ranked is a line with the values by which Order.first sorts it.
type ranked struct {
	known  bool // the record has the field
	number float64
	text   string
	addr   netip.AddrPort
	line   []byte
}

// ranker returns a function that ranks a record. Its error is a fault in the
// field to sort by, or in one of the fields to print.
func (o *Order) ranker(farms Farms, print []string) func(line []byte) (ranked, error) {
	table, _ := NewTable(CSV, append([]string{o.Field, "addr"}, print...), Display{}) // the fields are known
	table.farms = farms
	return func(line []byte) (r ranked, err error) {
		if _, err := table.read(line); err != nil {
			return r, err
		}
		r.line = line
		value := table.values[0]
		r.addr, _ = netip.ParseAddrPort(cellOf(table.values[1]))
		r.known, r.text = value != nil && string(value) != "null", cellOf(value)
		if number, err := strconv.ParseFloat(r.text, 64); err == nil && value[0] != '"' {
			r.number, r.text = number, ""
		}
		switch addr := r.addr.Addr().As16(); o.Field {
		case "addr", "ip": // sort addresses as numbers, not as text
			r.text = string(addr[:])
		}
		return r, nil
	}
}

// first sorts records by the field, and returns the first Most of them, or all if Most is 0.
// Records without the field come last. Records with the same value are in the order of their
// addresses.
func (o *Order) first(all []ranked) []ranked {
	slices.SortStableFunc(all, func(a, b ranked) int {
		if a.known != b.known {
			if a.known {
				return -1
			}
			return 1
		}
		by := cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.text, b.text))
		if o.Falls {
			by = -by
		}
		return cmp.Or(by, a.addr.Compare(b.addr))
	})
	if o.Most > 0 && len(all) > o.Most {
		clear(all[o.Most:])
		all = all[:o.Most]
	}
	return all
}
