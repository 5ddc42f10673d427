package ledger

import (
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/tally"
	"github.com/a2sscan/a2sscan/scanner"
)

// leastPaced is how long a scan has to be paced by its rate so that its error
// means something.
const leastPaced = 100 * time.Millisecond

// pacingError is by how much a scan was faster than its rates, as a part of them,
// in the time in which the rate was all that held it back; nil if that can't be
// told.
func pacingError(s *scanner.Stats) *float64 {
	paced := s.Elapsed
	for _, us := range s.Waited {
		paced -= time.Duration(us) * time.Microsecond
	}
	if s.Rate == scanner.Off || s.Allowed == 0 || paced < leastPaced {
		return nil
	}
	e := float64(s.DatagramsSent())/float64(s.Allowed) - 1
	return &e
}

// largestShown is how many of the addresses with the most servers a summary
// names.
const largestShown = 10

// namesListed is how many games, maps, systems and versions a summary names.
const namesListed = 20

// countriesListed is how many countries a summary names: all that there are.
const countriesListed = 26 * 26

// Answers is what was counted of the answers.
func (sum *Summary) Answers() *tally.Tally { return &sum.tally }

// found fills in what follows from the answers, of a scan that asked the silent
// so many times.
func (sum *Summary) SetAnswers(t *tally.Tally, asks int) {
	sum.tally = *t
	sum.Servers, sum.Players, sum.Bots = t.Servers, t.Players, t.Bots
	sum.Elsewhere = t.Corrected
	sum.Games, sum.Maps = t.Games.Top(namesListed), t.Maps.Top(namesListed)
	sum.Systems, sum.Versions = t.Systems.Top(namesListed), t.Versions.Top(namesListed)
	if t.Countries.Size() > 0 {
		sum.Countries = t.Countries.Top(countriesListed)
	}
	sum.FirstAnswers = tally.NewFirstAnswers(t.AtAsk, asks)
	sum.RoundTrips = t.Trips.Quantiles()
	sum.Busiest = t.Busy.Top(largestShown)
}
