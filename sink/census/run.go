package census

import "time"

// Run holds the sums of the summaries of all scans of a census, such as those of
// its shards.
type Run struct {
	Summaries  int       `json:"summaries"` // number of summaries read
	Ended      string    `json:"ended"`     // complete if all are; else the first other word
	Start      time.Time `json:"start"`
	End        time.Time `json:"end"`
	Seconds    float64   `json:"seconds"`    // of the longest scan
	Resumed    int       `json:"resumed"`    // number of resumptions
	Consistent bool      `json:"consistent"` // the sums of all ledgers add up

	Targets   RunTargets   `json:"targets"`
	Datagrams RunDatagrams `json:"datagrams"`

	Asked   uint64  `json:"asked"`    // finished targets
	HitRate float64 `json:"hit_rate"` // share of Asked that answered, from 0 to 1

	// Chance is the estimated probability that a request to a live server is answered.
	// Missed estimates how many live servers stayed silent only because datagrams were
	// lost. Absent: there is no estimate.
	Chance *float64 `json:"answer_chance,omitempty"`
	Missed *float64 `json:"missed_estimate,omitempty"`

	RateAsked   *float64 `json:"rate_asked,omitempty"` // datagrams per second; of the first summary
	RateReached float64  `json:"rate_reached"`         // the sum over all summaries

	Lists []RunList `json:"lists,omitempty"` // the inputs of the scans, each once
}

// RunTargets counts what became of the targets of the lists.
type RunTargets struct {
	Read        uint64            `json:"read"`
	Invalid     uint64            `json:"invalid"`
	Unscannable uint64            `json:"unscannable"`
	Excluded    uint64            `json:"excluded"`
	Duplicate   uint64            `json:"duplicate"`
	OtherShard  uint64            `json:"other_shard"`
	OverLimit   uint64            `json:"over_limit"`
	Stopped     uint64            `json:"stopped"`
	Finished    uint64            `json:"finished"`
	Unfinished  uint64            `json:"unfinished"`
	Unread      uint64            `json:"unread"`
	ByStatus    map[string]uint64 `json:"by_status"`
}

// RunDatagrams counts datagrams.
type RunDatagrams struct {
	Sent        uint64            `json:"sent"`
	Repeats     uint64            `json:"repeats"`
	SendErrors  uint64            `json:"send_errors"`
	Received    uint64            `json:"received"`
	ByClass     map[string]uint64 `json:"received_by_class"`
	KernelDrops uint64            `json:"kernel_drops"`
}

// RunList is one input of a scan.
type RunList struct {
	SHA256  string `json:"sha256,omitempty"` // of the raw bytes
	Targets uint64 `json:"targets"`
}
