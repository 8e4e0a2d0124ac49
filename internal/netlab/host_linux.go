package netlab

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// fabricAddr and controlAddr are the addresses of host i. They live in
// namespaces without a way out, so they are the same in every lab; the control
// namespace itself has the address of host maxHosts.
func fabricAddr(i int) net.IP  { return net.IPv4(10, 88, 0, byte(i+1)) }
func controlAddr(i int) net.IP { return net.IPv4(10, 89, 0, byte(i+1)) }

// hardwareAddr is the Ethernet address of host i in the fabric, locally
// administered; the fabric finds the host in its last byte.
func hardwareAddr(i int) net.HardwareAddr {
	return net.HardwareAddr{0x02, 'n', 'e', 't', 0, byte(i)}
}

// A namespace is a machine of the lab: a network, a name and the shared-memory
// objects of its own, kept alive by open files.
type namespace struct {
	name          string
	net, uts, ipc *os.File
	tap           int // -1 in the control namespace
}

// newNamespace makes an empty machine and calls setup inside it.
func newNamespace(name string, setup func(ns *namespace) error) (*namespace, error) {
	ns := &namespace{name: name, tap: -1}
	// The thread's namespaces live on in the open files.
	if err := onOwnThread(func() error { return ns.enterNew(setup) }); err != nil {
		ns.close()
		return nil, fmt.Errorf("netlab: host %s: %w", name, err)
	}
	return ns, nil
}

func (ns *namespace) enterNew(setup func(ns *namespace) error) error {
	if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := unix.Sethostname([]byte(ns.name)); err != nil {
		return fmt.Errorf("sethostname: %w", err)
	}
	for _, n := range []struct {
		kind string
		file **os.File
	}{{"net", &ns.net}, {"uts", &ns.uts}, {"ipc", &ns.ipc}} {
		f, err := os.Open("/proc/thread-self/ns/" + n.kind)
		if err != nil {
			return err
		}
		*n.file = f
	}
	// No addresses of our own choosing, no neighbour discovery on the wire.
	for key, value := range map[string]string{
		"net/ipv6/conf/all/disable_ipv6":     "1",
		"net/ipv6/conf/default/disable_ipv6": "1",
	} {
		if err := sysctl(key, value); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer h.Close()
	lo, err := h.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := h.LinkSetUp(lo); err != nil {
		return err
	}
	return setup(ns)
}

func (ns *namespace) close() {
	for _, f := range []*os.File{ns.net, ns.uts, ns.ipc} {
		if f != nil {
			f.Close()
		}
	}
	if ns.tap >= 0 {
		unix.Close(ns.tap)
	}
}

// newControl makes the namespace of the launchers.
func newControl() (*namespace, error) {
	return newNamespace(control, func(*namespace) error {
		h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
		if err != nil {
			return err
		}
		defer h.Close()
		bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: controlDevice}}
		if err := h.LinkAdd(bridge); err != nil {
			return fmt.Errorf("bridge: %w", err)
		}
		return address(h, controlDevice, controlAddr(maxHosts), 24)
	})
}

// newHost makes host i of the cluster, wired to the control namespace.
func newHost(c *Cluster, i int, ctl *namespace) (*namespace, error) {
	return newNamespace(c.Graph.Name(i), func(ns *namespace) error {
		// The settings that make runs repeatable: nothing remembered from
		// earlier connections, explicit congestion notification asked for.
		for key, value := range map[string]string{
			"net/ipv4/tcp_ecn":             "1",
			"net/ipv4/tcp_no_metrics_save": "1",
		} {
			if err := sysctl(key, value); err != nil {
				return err
			}
		}
		h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
		if err != nil {
			return err
		}
		defer h.Close()
		if err := ns.wireFabric(h, c, i); err != nil {
			return fmt.Errorf("%s: %w", fabricDevice, err)
		}
		if err := ns.wireControl(h, i, ctl); err != nil {
			return fmt.Errorf("%s: %w", controlDevice, err)
		}
		return nil
	})
}

// wireFabric makes the TAP whose other end is the fabric.
func (ns *namespace) wireFabric(h *netlink.Handle, c *Cluster, i int) error {
	var err error
	if ns.tap, err = openTAP(fabricDevice); err != nil {
		return err
	}
	dev, err := h.LinkByName(fabricDevice)
	if err != nil {
		return err
	}
	if err := h.LinkSetMTU(dev, c.MTU); err != nil {
		return fmt.Errorf("mtu %d: %w", c.MTU, err)
	}
	if err := h.LinkSetHardwareAddr(dev, hardwareAddr(i)); err != nil {
		return err
	}
	if err := h.LinkSetTxQLen(dev, 10000); err != nil {
		return err
	}
	if err := address(h, fabricDevice, fabricAddr(i), 24); err != nil {
		return err
	}
	if c.Queues.BackPressure {
		if err := limitRate(h, dev, nicRate(c, i), c.MTU); err != nil {
			return fmt.Errorf("back pressure: %w", err)
		}
	}
	// Neighbours are written down: address resolution would be traffic.
	for j := range c.Graph.Hosts() {
		if j == i {
			continue
		}
		err := h.NeighAdd(&netlink.Neigh{
			LinkIndex: dev.Attrs().Index, State: netlink.NUD_PERMANENT,
			IP: fabricAddr(j), HardwareAddr: hardwareAddr(j),
		})
		if err != nil {
			return fmt.Errorf("neighbour: %w", err)
		}
	}
	return congestionControl(h, dev, i)
}

// congestionControl makes the host's connections over the fabric use cubic. A
// route may name it even where the machine's settings let a namespace not
// choose it as its default, so nothing outside the namespace changes.
func congestionControl(h *netlink.Handle, dev netlink.Link, i int) error {
	_, network, err := net.ParseCIDR(fabricAddr(0).String() + "/24")
	if err != nil {
		return err
	}
	route := &netlink.Route{
		LinkIndex: dev.Attrs().Index, Dst: network, Src: fabricAddr(i),
		Scope: netlink.SCOPE_LINK, Protocol: unix.RTPROT_KERNEL, Congctl: "cubic",
	}
	if err := h.RouteReplace(route); err != nil {
		return fmt.Errorf("congestion control cubic: %w", err)
	}
	return nil
}

// nicRate is the rate in B/s at which host i can send.
func nicRate(c *Cluster, i int) float64 {
	rate := 0.0
	for _, a := range c.Graph.Out(i) {
		rate = max(rate, a.Bandwidth)
	}
	return rate
}

// limitRate puts a token bucket before the device, so that what cannot be
// sent yet stays in the kernel, where TCP sees it.
func limitRate(h *netlink.Handle, dev netlink.Link, rate float64, mtu int) error {
	burst := 2 * (mtu + ethernetHeader)
	return h.QdiscReplace(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: dev.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       uint64(rate),
		Limit:      8 << 20,
		Buffer:     netlink.Xmittime(uint64(rate), uint32(burst)),
	})
}

// wireControl joins the host to the bridge of the launchers.
func (ns *namespace) wireControl(h *netlink.Handle, i int, ctl *namespace) error {
	port := fmt.Sprintf("p%d", i)
	err := h.LinkAdd(&netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: controlDevice},
		PeerName:  port, PeerNamespace: netlink.NsFd(ctl.net.Fd()),
	})
	if err != nil {
		return err
	}
	if err := address(h, controlDevice, controlAddr(i), 24); err != nil {
		return err
	}
	// The other end, in the control namespace.
	return ctl.inside(func() error {
		h, err := netlink.NewHandle(unix.NETLINK_ROUTE)
		if err != nil {
			return err
		}
		defer h.Close()
		dev, err := h.LinkByName(port)
		if err != nil {
			return err
		}
		bridge, err := h.LinkByName(controlDevice)
		if err != nil {
			return err
		}
		if err := h.LinkSetMaster(dev, bridge); err != nil {
			return err
		}
		return h.LinkSetUp(dev)
	})
}

// inside calls f on a thread that is in the namespace.
func (ns *namespace) inside(f func() error) error {
	return onOwnThread(func() error {
		if err := unix.Setns(int(ns.net.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("setns: %w", err)
		}
		return f()
	})
}

// onOwnThread calls f on a thread that ends afterwards, and may so be moved to
// other namespaces. The main thread is none: it would not end, and its
// namespaces are taken for those of the process.
func onOwnThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, so that the thread ends with the goroutine
		if unix.Gettid() == os.Getpid() {
			defer runtime.UnlockOSThread()
			done <- onOwnThread(f) // this goroutine keeps the main thread meanwhile
			return
		}
		done <- f()
	}()
	return <-done
}

// address gives the device an address and sets it up.
func address(h *netlink.Handle, device string, ip net.IP, bits int) error {
	dev, err := h.LinkByName(device)
	if err != nil {
		return err
	}
	addr := &netlink.Addr{IPNet: &net.IPNet{IP: ip, Mask: net.CIDRMask(bits, 32)}}
	if err := h.AddrAdd(dev, addr); err != nil {
		return fmt.Errorf("address %s: %w", ip, err)
	}
	return h.LinkSetUp(dev)
}

// openTAP makes a TAP device in the calling thread's network and returns its
// other end, non-blocking. The device goes away when that is closed.
func openTAP(name string) (int, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, fmt.Errorf("/dev/net/tun: %w", err)
	}
	req, err := unix.NewIfreq(name)
	if err == nil {
		req.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("tap: %w", err)
	}
	return fd, nil
}

// sysctl sets a kernel parameter of the calling thread's namespaces.
func sysctl(key, value string) error {
	if err := os.WriteFile("/proc/sys/"+key, []byte(value), 0); err != nil {
		return fmt.Errorf("sysctl %s=%s: %w", strings.ReplaceAll(key, "/", "."), value, err)
	}
	return nil
}
