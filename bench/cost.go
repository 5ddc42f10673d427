package bench

import "time"

// Workload describes the scan to plan.
type Workload struct {
	Live     uint64  // servers that answer
	Silent   uint64  // targets that don't answer
	Attempts uint64  // requests to a silent target: --retries plus one
	Rate     float64 // datagrams per second, of all machines together
	Nights   uint64
}

// Cost is what all nights of a Workload take together.
type Cost struct {
	Sent, Received uint64        // datagrams
	Wire           uint64        // bytes, including the headers of IP and UDP
	Time           time.Duration // time to send all datagrams at Rate
	CPU            time.Duration
	Census         uint64 // bytes of .ndjson.zst
}

// The cost of one server and of one datagram. README.md gives the source of each
// number.
const (
	requestsLive = 4 // INFO, then INFO, PLAYER and RULES with the challenge
	repliesLive  = 4
	bytesSent    = 21   // payload of a datagram, on average
	bytesReplies = 1450 // payload of the replies of a server
	headers      = 28   // IP and UDP, of each datagram
	censusBytes  = 900  // of a compressed record
	cpuLive      = 40 * time.Microsecond
	cpuSilent    = 5500 * time.Nanosecond // for each datagram
)

// Cost estimates what the workload takes on a network without loss. If the network
// loses a share p of the datagrams, the number of requests to live servers grows by
// about the same share.
func (w Workload) Cost() Cost {
	sent := requestsLive*w.Live + w.Attempts*w.Silent
	received := repliesLive * w.Live
	return Cost{
		Sent:     w.Nights * sent,
		Received: w.Nights * received,
		Wire:     w.Nights * (sent*(bytesSent+headers) + w.Live*bytesReplies + received*headers),
		Time:     time.Duration(float64(w.Nights*sent) / w.Rate * float64(time.Second)),
		CPU:      time.Duration(w.Nights) * (time.Duration(w.Live)*cpuLive + time.Duration(w.Attempts*w.Silent)*cpuSilent),
		Census:   w.Nights * w.Live * censusBytes,
	}
}
