package report

import (
	"slices"

	"github.com/a2sscan/a2sscan/sink/census"
)

// For each flag, and for each of the first farmsShown farms, the page lists at most
// suspectsShown servers.
const (
	suspectsShown = 10
	farmsShown    = 20
)

// suspects describes the servers that have one flag, or are in one farm: their number, and
// those of them with the most people.
type suspects struct {
	n   uint64
	top []*census.Server
}

// suspect adds a server to a list. The name of the list is its anchor in the page.
func (l *Servers) suspect(name string, s *census.Server) {
	if l.lists == nil {
		l.lists = map[string]suspects{}
	}
	list := l.lists[name]
	list.n++
	at, _ := slices.BinarySearchFunc(list.top, s, compare)
	if at < suspectsShown {
		list.top = slices.Insert(list.top, at, s)
		list.top = list.top[:min(len(list.top), suspectsShown)]
	}
	l.lists[name] = list
}

type suspectList struct {
	Anchor, Title string
	N             uint64
	Rows          []serverRow
	Choice        string // the arguments with which cat prints all servers of the list
}

func (l *Servers) suspectLists(s *census.Stats) (all []suspectList) {
	add := func(anchor, title, choice string) {
		if list, ok := l.lists[anchor]; ok {
			one := suspectList{Anchor: anchor, Title: title, N: list.n, Choice: choice}
			for _, s := range list.top {
				one.Rows = append(one.Rows, newRow(s))
			}
			all = append(all, one)
		}
	}
	for _, flag := range byCount(s.Flags) {
		add("flag-"+flag.Name, "Flag "+Shown(flag.Name, 40), "--fakes "+flag.Name)
	}
	for _, f := range s.Farms.Top[:min(len(s.Farms.Top), farmsShown)] {
		add("farm-"+f.ID, "Farm "+named(f.Name, f.ID), "--farm "+f.ID)
	}
	return all
}

// Link returns the anchor of the list about a flag or a farm, or "" if the page has no
// such list. Its first argument is "flag" or "farm".
func (p *page) Link(kind, id string) string {
	anchor := kind + "-" + id
	if slices.ContainsFunc(p.Suspects, func(l suspectList) bool { return l.Anchor == anchor }) {
		return anchor
	}
	return ""
}
