// Package encode reads and writes the files in which machines are described:
// latency matrices in CSV as people have them, and networks of hosts and
// switches. Each format has one file; each reader refuses what it does not
// understand and says where.
package encode
