package fleet

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/scanner/master"
	"github.com/a2sscan/a2sscan/scanner/udp"
)

// webServer is an entry as GetServerList writes it.
type webServer struct {
	Addr       string `json:"addr"`
	GamePort   uint32 `json:"gameport,omitempty"`
	SteamID    string `json:"steamid,omitempty"`
	Name       string `json:"name,omitempty"`
	AppID      uint32 `json:"appid,omitempty"`
	GameDir    string `json:"gamedir,omitempty"`
	Version    string `json:"version,omitempty"`
	Region     int32  `json:"region"`
	Players    int32  `json:"players"`
	MaxPlayers int32  `json:"max_players"`
	Map        string `json:"map"`
	Secure     bool   `json:"secure"`
	Dedicated  bool   `json:"dedicated"`
	OS         string `json:"os,omitempty"`
}

// ServeHTTP answers GetServerList. It uses the parameters key, filter and limit as Steam
// does, and applies the limits and faults of the MasterConfig.
func (m *Master) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if from, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && !loopback.Inside(udp.Pack(from)) {
		http.Error(w, "loopback only", http.StatusForbidden)
		return
	}
	m.mu.Lock()
	m.calls++
	faulty := m.faulty(m.calls)
	m.mu.Unlock()
	q := r.URL.Query()
	switch {
	case faulty && m.failing(w, r):
	case q.Get("key") == "" || m.Key != "" && q.Get("key") != m.Key:
		http.Error(w, "<html>Forbidden: "+r.URL.String()+"</html>", http.StatusForbidden)
	default:
		m.answer(w, q.Get("filter"), q.Get("limit"), faulty)
	}
}

// If the master has a fault that replaces the list, m.failing serves this fault and
// returns true. Like real servers, it quotes the request.
func (m *Master) failing(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case m.has(MasterSilent):
		<-r.Context().Done()
	case m.has(MasterTooMany):
		after := strconv.Itoa(int(m.In / time.Second))
		if m.Date {
			after = time.Now().Add(m.In).UTC().Format(http.TimeFormat)
		}
		w.Header().Set("Retry-After", after)
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	case m.has(MasterBroken):
		http.Error(w, r.URL.String(), http.StatusServiceUnavailable)
	case m.has(MasterForbidden):
		http.Error(w, r.URL.String(), http.StatusForbidden)
	case m.has(MasterRefuses):
		http.Error(w, r.URL.String(), http.StatusBadRequest)
	case m.has(MasterRedirect):
		http.Redirect(w, r, "http://127.0.0.2/?"+r.URL.RawQuery, http.StatusFound)
	case m.has(MasterPage):
		io.WriteString(w, "<html>"+r.URL.String()+"</html>")
	case m.has(MasterEmptyJSON):
		io.WriteString(w, `{"response":{}}`)
	case m.has(MasterHuge):
		io.WriteString(w, `{"response":{"servers":[`)
		line := []byte(strings.Repeat(`{"addr":"127.0.0.1:1","name":"`+strings.Repeat("again", 200)+`"},`, 100))
		for range 1 << 30 / len(line) { // a GiB in all, unless the client disconnects
			if _, err := w.Write(line); err != nil {
				break
			}
		}
	default:
		return false
	}
	return true
}

// answer writes the servers that meet the filter, but no more than limit says. If faulty
// is set, the JSON may have faults.
func (m *Master) answer(w http.ResponseWriter, filter, limit string, faulty bool) {
	f, err := master.ParseFilter(filter)
	if err != nil {
		http.Error(w, "bad filter", http.StatusBadRequest)
		return
	}
	most, err := strconv.Atoi(limit)
	if err != nil || most <= 0 {
		most = 100 // Steam's default
	}
	var out struct {
		Response struct {
			Servers []webServer `json:"servers,omitempty"`
		} `json:"response"`
	}
	servers := &out.Response.Servers
	for i := range m.list {
		if len(*servers) == min(most, m.Cap) {
			break
		}
		if m.list[i].meets(f) {
			*servers = append(*servers, m.list[i].server)
		}
	}
	body, err := json.Marshal(&out)
	if err != nil { // encoding this value can't fail
		panic(err)
	}
	if faulty && m.has(MasterTruncated) {
		body = body[:len(body)*2/3]
	}
	if faulty && m.has(MasterMalformed) {
		at := bytes.LastIndexByte(body, '{')
		body = append(body[:at:at], "{]} what? \"key\""...)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}
