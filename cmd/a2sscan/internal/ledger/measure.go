package ledger

import (
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/tally"
	"github.com/a2sscan/a2sscan/scanner"
)

// leastPaced is the minimum time for which the rate must have been the only limit
// for the pacing error to be meaningful.
const leastPaced = 100 * time.Millisecond

// pacingError returns how much faster a scan was than its rate while the rate was
// its only limit, as a fraction of the rate. It returns nil if that can't be
// measured.
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

// largestShown is the maximum number of addresses in the summary's list of those
// with the most servers.
const largestShown = 10

// namesListed is the maximum number of games, maps, systems or versions that a
// summary lists.
const namesListed = 20

// countriesListed is the maximum number of countries that a summary lists: the
// number of two-letter codes.
const countriesListed = 26 * 26

// Answers returns the tally that SetAnswers set.
func (sum *Summary) Answers() *tally.Tally { return &sum.tally }

// SetAnswers fills in the fields that derive from the answers. attempts is how many
// times the scan queried a target that stayed silent.
func (sum *Summary) SetAnswers(t *tally.Tally, attempts int) {
	sum.tally = *t
	sum.Servers, sum.Players, sum.Bots = t.Servers, t.Players, t.Bots
	sum.Elsewhere = t.Corrected
	sum.Games, sum.Maps = t.Games.Top(namesListed), t.Maps.Top(namesListed)
	sum.Systems, sum.Versions = t.Systems.Top(namesListed), t.Versions.Top(namesListed)
	if t.Countries.Size() > 0 {
		sum.Countries = t.Countries.Top(countriesListed)
	}
	sum.FirstAnswers = tally.NewFirstAnswers(t.AtAsk, attempts)
	sum.RoundTrips = t.Trips.Quantiles()
	sum.Busiest = t.Busy.Top(largestShown)
}
