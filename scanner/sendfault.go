package scanner

import (
	"errors"
	"syscall"
)

// sendFault is the reason why a datagram could not be sent.
type sendFault uint8

// The faults of sending.
const (
	sendOther     sendFault = iota // anything else
	sendPutOff                     // the kernel refused it with ErrAgain too many times
	sendNetwork                    // the network is unreachable
	sendHost                       // the host is unreachable
	sendForbidden                  // a firewall or the system forbids it
	sendAddress                    // the address is not valid as a destination
	sendInterface                  // the interface is down or gone
	numSendFaults = iota
)

// SendFaults are the summary's words for the faults, in the order of Stats.SendFaults.
var SendFaults = [numSendFaults]string{
	"other", "put_off", "network_unreachable", "host_unreachable", "forbidden", "bad_address", "interface_down",
}

// sendFaultOf classifies an error of Send.
func sendFaultOf(err error) sendFault {
	var no syscall.Errno
	if isAgain(err) {
		return sendPutOff
	}
	if !errors.As(err, &no) {
		return sendOther
	}
	switch no {
	case syscall.ENETUNREACH:
		return sendNetwork
	case syscall.EHOSTUNREACH:
		return sendHost
	case syscall.EPERM, syscall.EACCES:
		return sendForbidden
	case syscall.EINVAL, syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT, syscall.EDESTADDRREQ:
		return sendAddress
	case syscall.ENETDOWN, syscall.ENODEV, syscall.ENXIO:
		return sendInterface
	}
	return sendOther
}
