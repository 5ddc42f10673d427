package scanner

import "github.com/a2sscan/a2sscan/wire"

// Assembler makes Results from complete messages, as a scan does when a target is
// finished. It is for programs that have their own sockets, or messages in memory;
// Decoder takes datagrams in any order. The zero value is ready to use. An
// Assembler reuses its memory for the next Result.
type Assembler struct {
	asm    assembler
	result Result
}

// Result returns the Result of these messages of a server: an 'I' or 'm', a 'D' and an
// 'E'. A nil message means that its question was not asked. Received and RecvBytes
// count the messages. The address, the times and the counts of what was sent are zero;
// the caller may set them. The Result aliases the messages and the Assembler, and is
// valid until either is used again.
func (a *Assembler) Result(info, players, rules []byte) *Result {
	r := &a.result
	*r = Result{}
	m := replies{info: info, decoded: &r.Info, players: players, rules: rules}
	m.infoErr, _ = r.Info.Decode(info).(wire.Error)
	for q, msg := range [wire.NumQuestions][]byte{info, players, rules} {
		if msg != nil {
			r.Asked |= 1 << q
			r.Received++
			r.RecvBytes += uint64(len(msg))
		}
	}
	a.asm.assemble(r, &m)
	return r
}
