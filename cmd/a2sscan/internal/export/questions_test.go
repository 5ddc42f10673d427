package export

import (
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/duckdbtest"
	"github.com/a2sscan/a2sscan/sink/record"
)

// writeNight writes a census of many games, with times and locations.
func writeNight(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "night.ndjson.zst")
	w, err := sink.Create(path, sink.Options{FlushEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	cfg := fleet.Config{
		Network: netip.MustParsePrefix("127.0.0.0/22"), Ports: []uint16{27015}, Seed: 11,
		Kinds: append(fleet.UsualKinds(), fleet.Games),
	}
	n := 0
	var games scanner.Interpreter
	for at := range cfg.All() {
		r := cfg.Truth(at, scanner.AskAll)
		if r == nil {
			continue
		}
		n++
		r.Time = time.Date(2026, 11, 20, 3, 0, n, 0, time.UTC)
		r.RTT = time.Duration(1+n*7919%200_000) * time.Microsecond
		r.Geo = scanner.Geo{Continent: "EU", Country: []string{"DE", "FR", "PL"}[n%3], ASN: uint32(64496 + n%7), Org: "example"}
		games.Interpret(r)
		if err := w.Write("night", r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// servers selects the records with an answer. It computes people, bots, game, map and
// version as stats.json does.
const servers = `(SELECT *,
	CASE WHEN info.server_type = 'proxy' THEN 0 ELSE
		coalesce(game.players::BIGINT, greatest(info.players::BIGINT - coalesce(info.bots, 0)::BIGINT, 0), 0) END AS people,
	CASE WHEN info.server_type = 'proxy' THEN 0 ELSE coalesce(game.bots::BIGINT, info.bots::BIGINT, 0) END AS bots,
	coalesce(game.id, 'app:' || nullif(info.app_id, 0), 'folder:' || nullif(info.folder, ''), '') AS which,
	coalesce(game.map, info.map) AS level,
	coalesce(game.version, info.version) AS build
	FROM %s WHERE status IN ('ok', 'partial', 'error'))`

// tenQuestions are questions whose answers must be the same in Parquet, in NDJSON and,
// if stats is not nil, in stats.json. An answer is a list of lines.
var tenQuestions = []struct {
	name  string
	sql   string // selects the lines
	stats func(s *census.Stats) []string
}{
	{"servers, people and bots by game",
		"SELECT concat_ws('|', which, count(*), sum(people), sum(bots)) AS line FROM %s GROUP BY which",
		func(s *census.Stats) []string {
			return groupLines(s.Games, func(g *census.Group) string {
				return fmt.Sprintf("%s|%d|%d|%d", g.ID, g.Servers, g.People, g.Bots)
			})
		}},
	{"top maps",
		"SELECT concat_ws('|', which, level, count(*), sum(people)) AS line FROM %s WHERE level IS NOT NULL GROUP BY which, level",
		func(s *census.Stats) []string { return groupLines(s.Maps, lineWithin) }},
	{"servers by version",
		"SELECT concat_ws('|', which, build, count(*), sum(people)) AS line FROM %s WHERE build IS NOT NULL GROUP BY which, build",
		func(s *census.Stats) []string { return groupLines(s.Versions, lineWithin) }},
	{"servers by operating system",
		"SELECT concat_ws('|', info.environment, count(*)) AS line FROM %s WHERE info.environment IS NOT NULL GROUP BY info.environment",
		func(s *census.Stats) []string {
			return groupLines(s.Systems, func(g *census.Group) string { return fmt.Sprintf("%s|%d", g.Name, g.Servers) })
		}},
	{"servers with a password",
		"SELECT concat_ws('|', count(*) FILTER (info.password), count(*) FILTER (NOT info.password)) AS line FROM %s", nil},
	{"servers by flag",
		"SELECT concat_ws('|', flag, count(*)) AS line FROM (SELECT unnest(flags) AS flag FROM %s) GROUP BY flag",
		func(s *census.Stats) (lines []string) {
			for flag, n := range s.Flags {
				lines = append(lines, fmt.Sprintf("%s|%d", flag, n))
			}
			return lines
		}},
	{"median round trip",
		"SELECT printf('%%.3f', quantile_disc(rtt_ms, 0.5)) AS line FROM %s WHERE rtt_ms > 0",
		func(s *census.Stats) []string { return []string{fmt.Sprintf("%.3f", s.RoundTrips.P50)} }},
	{"servers with a rule",
		"SELECT concat_ws('|', coalesce(rules['sv_gravity'], 'none'), count(*)) AS line FROM %s WHERE rules IS NOT NULL GROUP BY rules['sv_gravity']", nil},
	{"players and their time",
		"SELECT concat_ws('|', count(*), count(DISTINCT p.name), sum((p.duration::DOUBLE * 1000)::BIGINT), sum(p.score::BIGINT)) AS line " +
			"FROM (SELECT unnest(players) AS p FROM %s)", nil},
	{"servers by network",
		"SELECT concat_ws('|', 'AS' || geo.asn, count(*), sum(people)) AS line FROM %s WHERE geo.asn > 0 GROUP BY geo.asn",
		func(s *census.Stats) []string {
			return groupLines(s.Networks, func(g *census.Group) string {
				return fmt.Sprintf("%s|%d|%d", g.ID, g.Servers, g.People)
			})
		}},
}

// lineWithin returns the line of a group of servers within one game.
func lineWithin(g *census.Group) string {
	return fmt.Sprintf("%s|%s|%d|%d", g.Game, g.Name, g.Servers, g.People)
}

func groupLines(groups census.Groups, line func(*census.Group) string) (lines []string) {
	for i := range groups.Top {
		lines = append(lines, line(&groups.Top[i]))
	}
	return lines
}

// TestTenQuestions asks ten questions of a night: DuckDB answers from Parquet and from
// NDJSON, and stats.json has its own answers. All must be equal.
func TestTenQuestions(t *testing.T) {
	duckdbtest.Query(t, "SELECT 1") // without DuckDB it skips the test before the long work
	night := writeNight(t)
	table := export(t, Options{Files: []string{night}, Output: "night.parquet"})
	ndjson := "(" + strings.TrimSuffix(strings.TrimSpace(record.DuckDB(night)), ";") + ")"
	var statements []string
	for _, q := range tenQuestions {
		for _, from := range []string{ndjson, "'" + table + "'"} {
			statements = append(statements, fmt.Sprintf(q.sql, fmt.Sprintf(servers, from)))
		}
	}
	c, err := census.Open([]string{night}, census.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stats := c.Stats()
	answers := duckdbtest.Query(t, statements...)
	for i, q := range tenQuestions {
		want := lines(answers[2*i])
		compare(t, q.name+": Parquet", lines(answers[2*i+1]), want)
		if q.stats != nil {
			compare(t, q.name+": stats", slices.Sorted(slices.Values(q.stats(stats))), want)
		}
	}
}

// TestEveryValue: DuckDB reads the same rows from Parquet as from NDJSON, in every
// column, except that the entries of maps are sorted. EXCEPT compares all values.
func TestEveryValue(t *testing.T) {
	duckdbtest.Query(t, "SELECT 1") // without DuckDB it skips the test before the long work
	sorted := "SELECT * EXCLUDE (rules, game), list_sort(map_entries(rules))::VARCHAR"
	for _, c := range record.Columns() {
		if c.Name != "game" {
			continue
		}
		for _, f := range c.Fields {
			value := "game." + f.Name
			if f.Type == record.ColumnMap {
				value = "list_sort(map_entries(" + value + "))::VARCHAR"
			}
			sorted += ", " + value
		}
	}
	sorted += " "
	for _, file := range []string{written(t), writeNight(t)} {
		table := export(t, Options{Files: []string{file}, Output: "census.parquet"})
		raw := strings.TrimSuffix(strings.TrimSpace(record.DuckDB(file)), ";")
		answers := duckdbtest.Query(t,
			"CREATE TABLE ours AS "+raw+" LIMIT 0",
			"INSERT INTO ours BY NAME FROM '"+table+"'",
			"SELECT count(*)::INTEGER AS n FROM ours",
			"SELECT count(*)::INTEGER AS n FROM (("+sorted+raw+") EXCEPT ALL ("+sorted+"FROM ours))",
			"SELECT count(*)::INTEGER AS n FROM (("+sorted+"FROM ours) EXCEPT ALL ("+sorted+raw+"))",
		)
		rows, missing, other := lines(answers[2])[0], lines(answers[3])[0], lines(answers[4])[0]
		if rows != fmt.Sprint(countLines(t, file)) || missing != "0" || other != "0" {
			t.Errorf("%s rows, %s of NDJSON are missing, %s are not in NDJSON", rows, missing, other)
		}
	}
}

// lines returns the lines of an answer, sorted.
func lines(rows []map[string]any) (all []string) {
	for _, row := range rows {
		for v := range maps.Values(row) {
			all = append(all, fmt.Sprint(v))
		}
	}
	slices.Sort(all)
	return all
}

// compare fails the test if an answer is empty or differs from the answer from NDJSON.
func compare(t *testing.T, what string, got, want []string) {
	t.Helper()
	t.Logf("%s: %d lines, %.60q", what, len(want), want)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%s\ngot  %.600q\nwant %.600q", what, got, want)
	}
}
