package scanner

// handoff takes outcomes from the loop to the finisher, in blocks, without ever
// waiting for it, and takes the memory of the blocks back.
type handoff struct {
	finisher *finisher
	pool     *pool
	outcomes []outcome   // the block that is being filled
	backlog  []block     // blocks that the finisher has no room for
	spare    [][]outcome // empty blocks
	waiting  int         // outcomes that the caller's function has not had
	limit    int         // of waiting: beyond it no target is started
}

func newHandoff(f *finisher, p *pool, limit int) *handoff {
	return &handoff{finisher: f, pool: p, limit: limit, outcomes: make([]outcome, 0, blockLen)}
}

// full reports whether the caller's function is too far behind.
func (h *handoff) full() bool { return h.waiting >= h.limit }

// add takes one outcome.
func (h *handoff) add(o outcome) {
	h.outcomes = append(h.outcomes, o)
	h.waiting++
	if len(h.outcomes) == blockLen {
		h.seal(nil)
	}
}

// seal ends the block that is being filled. A snapshot stands behind its
// outcomes.
func (h *handoff) seal(snapshot *Snapshot) {
	if len(h.outcomes) == 0 && snapshot == nil {
		return
	}
	h.backlog = append(h.backlog, block{h.outcomes, snapshot})
	if n := len(h.spare); n > 0 {
		h.outcomes = h.spare[n-1]
		h.spare = h.spare[:n-1]
	} else {
		h.outcomes = make([]outcome, 0, blockLen)
	}
}

// offer gives the finisher the blocks that it has room for. A block that is not
// full goes only when the loop has nothing better to do.
func (h *handoff) offer(calm bool) {
	if calm {
		h.seal(nil)
	}
	n := 0
	for n < len(h.backlog) && h.offerOne(h.backlog[n]) {
		n++
	}
	left := copy(h.backlog, h.backlog[n:])
	clear(h.backlog[left:])
	h.backlog = h.backlog[:left]
}

func (h *handoff) offerOne(b block) bool {
	select {
	case h.finisher.blocks <- b:
		return true
	default:
		return false
	}
}

// snapshotWaits reports whether a snapshot is still in the backlog.
func (h *handoff) snapshotWaits() bool {
	for i := range h.backlog {
		if h.backlog[i].snapshot != nil {
			return true
		}
	}
	return false
}

// collect takes back the blocks that the finisher is done with.
func (h *handoff) collect() {
	for {
		select {
		case b := <-h.finisher.back:
			h.recycle(b)
		default:
			return
		}
	}
}

// recycle takes the memory of a block's answers back.
func (h *handoff) recycle(block []outcome) {
	for i := range block {
		if a := block[i].answer; a != nil {
			h.pool.recycle(a)
		}
		block[i] = outcome{}
	}
	h.waiting -= len(block)
	h.spare = append(h.spare, block[:0])
}

// end gives the finisher all that is left, behind it the last snapshot, and
// waits until the caller's function has had everything.
func (h *handoff) end(last *Snapshot) {
	h.seal(last)
	for _, b := range h.backlog {
		h.give(b)
	}
	close(h.finisher.blocks)
	for {
		select {
		case b := <-h.finisher.back:
			h.recycle(b)
		case <-h.finisher.done:
			return
		}
	}
}

// give gives the finisher a block and waits until it has room.
func (h *handoff) give(b block) {
	for {
		select {
		case h.finisher.blocks <- b:
			return
		case back := <-h.finisher.back:
			h.recycle(back)
		}
	}
}
