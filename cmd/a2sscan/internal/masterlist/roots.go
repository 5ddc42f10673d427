package masterlist

import (
	"crypto/x509"
	"fmt"
	"sync"

	// These are the root certificates that browsers trust.
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// trustRoots makes the compiled-in root certificates available for checking the Web
// API's certificate. They are used only if the system has no roots, for example in a
// container image that contains only this program.
var trustRoots = sync.OnceFunc(func() { x509.SetFallbackRoots(ownRoots()) })

func ownRoots() *x509.CertPool {
	pool := x509.NewCertPool()
	for root := range bundle.Roots() {
		cert, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			panic(fmt.Sprintf("can't parse a bundled root certificate: %v", err))
		}
		if root.Constraint == nil {
			pool.AddCert(cert)
		} else {
			pool.AddCertWithConstraint(cert, root.Constraint)
		}
	}
	return pool
}
