package ledger

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Plan describes what a scan had to query, and how. If the plans of several scans differ
// only in the shard, the scans are parts of one census.
type Plan struct {
	Lists         []string `json:"lists" flag:"the lists of targets (SHA-256)"` // SHA-256 of each list, in their order
	Targets       []string `json:"targets" flag:"the targets"`                  // addresses and networks on the command line
	Ports         string   `json:"ports" flag:"--port"`
	Questions     string   `json:"questions" flag:"--query"`
	MaxTargets    uint64   `json:"max_targets" flag:"--max-targets"`
	MaxPerAddress int      `json:"max_per_address" flag:"--max-per-address"`
	SecondLook    bool     `json:"second_look,omitempty" flag:"--second-look"`
	Fallback      bool     `json:"fallback,omitempty" flag:"--fallback"`
	Resolve       bool     `json:"resolve,omitempty" flag:"--resolve"`
	Unanswered    bool     `json:"unanswered,omitempty" flag:"--unanswered"`
	Raw           bool     `json:"raw,omitempty" flag:"--raw"`
	NoNames       bool     `json:"no_player_names,omitempty" flag:"--no-player-names"`
	KeepMaster    bool     `json:"keep_master,omitempty" flag:"--keep-master"`
	Databases     []string `json:"mmdb,omitempty" flag:"--mmdb"`                           // types of the databases
	Exclusions    string   `json:"excluded_sha256" flag:"the excluded networks (SHA-256)"` // SHA-256 of the excluded networks
	Shard         string   `json:"shard"`                                                  // I/N; 0/1: all
}

// Difference returns the tag flag of the first field that differs between two structs of
// the same type, and both values of this field. It ignores fields without the tag. If no
// field differs, it returns "".
func Difference[T any](one, two T) (flag, a, b string) {
	text := func(v any) string {
		if list, ok := v.([]string); ok {
			v = strings.Join(list, ", ")
		}
		s := string([]rune(fmt.Sprint(v))) // like JSON, replace invalid UTF-8 in file names
		return cmp.Or(s, "none")
	}
	x, y := reflect.ValueOf(one), reflect.ValueOf(two)
	for i := range x.NumField() {
		a, b = text(x.Field(i).Interface()), text(y.Field(i).Interface())
		if flag = x.Type().Field(i).Tag.Get("flag"); flag != "" && a != b {
			return flag, console.Plain(a, 100), console.Plain(b, 100)
		}
	}
	return "", "", ""
}

// Part is a census that was merged into another one.
type Part struct {
	Name    string    `json:"name"` // name of the first file of the census
	Scan    string    `json:"scan"`
	Shard   string    `json:"shard"`
	Seed    *uint64   `json:"seed,omitempty"`
	Start   time.Time `json:"start"`
	End     time.Time `json:"end"`
	Records uint64    `json:"records"`
	Sum     string    `json:"xxh64,omitempty"` // hash of the census; absent: the census has several files
}
