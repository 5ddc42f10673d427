package masterlist

import (
	"crypto/x509"
	"fmt"
	"sync"

	// The roots that browsers trust.
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// trustRoots lets the program check the Web API's certificate on a system without
// roots, such as an image with nothing but the program. The system's roots are used
// where it has some.
var trustRoots = sync.OnceFunc(func() { x509.SetFallbackRoots(ownRoots()) })

// ownRoots are the roots that are compiled into the program.
func ownRoots() *x509.CertPool {
	pool := x509.NewCertPool()
	for root := range bundle.Roots() {
		cert, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			panic(fmt.Sprintf("a root of the bundle: %v", err))
		}
		if root.Constraint == nil {
			pool.AddCert(cert)
		} else {
			pool.AddCertWithConstraint(cert, root.Constraint)
		}
	}
	return pool
}
