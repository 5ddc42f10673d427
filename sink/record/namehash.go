package record

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// NameKey is the secret key of a NameHasher. It must be random.
type NameKey [32]byte

// NameHasher replaces each player's name in records with a 64-bit hash under a secret key.
// With the same key, equal names have equal hashes. Without the key, only the owner of a
// server that the scan queries can test a guess: the owner can invent players, and look
// for their hashes in the published census.
//
// The hashes are HMAC-SHA-256, truncated to 64 bits. Only one goroutine at a time
// may use a NameHasher.
type NameHasher struct {
	mac  hash.Hash
	text []byte // the bytes to hash; its memory is reused
	sum  []byte
}

// The first of the hashed bytes. It makes the hashes of a name, a list and a key differ,
// even if their bytes are the same.
const (
	hashOfName = 'n'
	hashOfList = 'l'
	hashOfKey  = 'k'
)

// ID identifies the key without revealing it: 16 hexadecimal digits.
func (k *NameKey) ID() string {
	h := NewNameHasher(k)
	h.text = append(h.text[:0], hashOfKey)
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, h.hash()))
}

// NewNameHasher returns a NameHasher with a key, or nil if key is nil.
func NewNameHasher(key *NameKey) *NameHasher {
	if key == nil {
		return nil
	}
	return &NameHasher{mac: hmac.New(sha256.New, key[:])}
}

// Name returns the hash of a name.
func (h *NameHasher) Name(name []byte) uint64 {
	h.text = append(append(h.text[:0], hashOfName), name...)
	return h.hash()
}

// List returns the keyed hash of the unkeyed hash of a list of players. If the record had the
// unkeyed hash, anybody could test a guess of the list.
func (h *NameHasher) List(hash uint64) uint64 {
	h.text = binary.BigEndian.AppendUint64(append(h.text[:0], hashOfList), hash)
	return h.hash()
}

func (h *NameHasher) hash() uint64 {
	h.mac.Reset()
	h.mac.Write(h.text)
	h.sum = h.mac.Sum(h.sum[:0])
	return binary.BigEndian.Uint64(h.sum)
}

func appendHash(dst []byte, h uint64) []byte {
	var digits [16]byte
	for i := range digits {
		digits[i] = hexDigits[h>>60]
		h <<= 4
	}
	return append(dst, digits[:]...)
}
