package ledger

import (
	"fmt"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Plan is what a scan was to query, and how. If the plans of several scans differ
// only in the shard, the scans are parts of one census.
type Plan struct {
	Lists         []string `json:"lists"`   // SHA-256 of each list, in the order of the lists
	Targets       []string `json:"targets"` // addresses and networks on the command line
	Ports         string   `json:"ports"`
	Questions     string   `json:"questions"`
	MaxTargets    uint64   `json:"max_targets"`
	MaxPerAddress int      `json:"max_per_address"`
	SecondLook    bool     `json:"second_look,omitempty"`
	Fallback      bool     `json:"fallback,omitempty"`
	Resolve       bool     `json:"resolve,omitempty"`
	Unanswered    bool     `json:"unanswered,omitempty"`
	Raw           bool     `json:"raw,omitempty"`
	NoNames       bool     `json:"no_player_names,omitempty"`
	KeepMaster    bool     `json:"keep_master,omitempty"`
	Databases     []string `json:"mmdb,omitempty"`  // types of the databases
	Exclusions    string   `json:"excluded_sha256"` // SHA-256 of the excluded networks
	Shard         string   `json:"shard"`           // I/N; 0/1: all
}

// Differs describes the first difference between two plans, apart from the shard;
// "" if there is none.
func (p *Plan) Differs(other *Plan) string {
	for _, c := range []struct {
		what     string
		one, two any
	}{
		{"the lists of targets (SHA-256)", strings.Join(p.Lists, " "), strings.Join(other.Lists, " ")},
		{"the targets", strings.Join(p.Targets, " "), strings.Join(other.Targets, " ")},
		{"--port", p.Ports, other.Ports},
		{"--query", p.Questions, other.Questions},
		{"--max-targets", p.MaxTargets, other.MaxTargets},
		{"--max-per-address", p.MaxPerAddress, other.MaxPerAddress},
		{"--second-look", p.SecondLook, other.SecondLook},
		{"--fallback", p.Fallback, other.Fallback},
		{"--resolve", p.Resolve, other.Resolve},
		{"--unanswered", p.Unanswered, other.Unanswered},
		{"--raw", p.Raw, other.Raw},
		{"--no-player-names", p.NoNames, other.NoNames},
		{"--keep-master", p.KeepMaster, other.KeepMaster},
		{"--mmdb", strings.Join(p.Databases, " "), strings.Join(other.Databases, " ")},
		{"the excluded networks (SHA-256)", p.Exclusions, other.Exclusions},
	} {
		if c.one != c.two {
			return fmt.Sprintf("%s: %s and %s", c.what, valueText(c.one), valueText(c.two))
		}
	}
	return ""
}

func valueText(v any) string {
	if s := console.Plain(fmt.Sprint(v), 100); s != "" {
		return s
	}
	return "none"
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
	Sum     string    `json:"xxh64,omitempty"` // hash of its file; absent: it has several files
}
