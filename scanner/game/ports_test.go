package game_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner/game"
)

// TestQueryPorts: for each row of docs/GAMES.md section 3, the ports have the row's query
// ports. No port comes twice, and there are at most 90.
func TestQueryPorts(t *testing.T) {
	doc, err := os.ReadFile("../../docs/GAMES.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "\n## 3 ")
	section, _, _ := strings.Cut(rest, "\nSources:")
	number := regexp.MustCompile(`\d+`)
	rows := 0
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$`).FindAllStringSubmatch(section, -1) {
		join, err := strconv.Atoi(row[2])
		if err != nil && row[2] != "–" {
			continue // the heading
		}
		if err != nil {
			join = 40000 // any
		}
		ports := game.QueryPorts(uint16(join))
		if sorted := slices.Sorted(slices.Values(ports)); len(ports) > 90 || len(slices.Compact(sorted)) != len(ports) {
			t.Errorf("%s: %d ports: %v", row[1], len(ports), sorted)
		}
		query, _, _ := strings.Cut(row[3], "before 2021")
		query = regexp.MustCompile(`\(\+\d+\)|[+-] ?1\b|\+ 1\b`).ReplaceAllString(query, "")
		for _, digits := range number.FindAllString(query, -1) {
			rows++
			if port, _ := strconv.Atoi(digits); !slices.Contains(ports, uint16(port)) {
				t.Errorf("%s, port %d: query port %d is not among %v", row[1], join, port, ports)
			}
		}
	}
	if rows < 25 {
		t.Errorf("%d query ports in docs/GAMES.md section 3", rows)
	}
	for _, join := range []uint16{0, 1, 9, 27000, 27050, 65535} {
		if ports := game.QueryPorts(join); slices.Contains(ports, 0) || len(ports) > 90 {
			t.Errorf("port %d: %v", join, ports)
		}
	}
}
