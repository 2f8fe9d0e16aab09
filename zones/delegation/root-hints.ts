// The name servers of the root zone. IANA "root.hints"; RFC 8109 says how they are used.

export interface ServerName {
  /** Lower case, with the final dot. */
  readonly name: string
  /** Empty: they must be looked up. */
  readonly addresses: readonly string[]
}

const root = (letter: string, ...addresses: readonly string[]): ServerName => ({
  name: `${letter}.root-servers.net.`,
  addresses,
})

export const rootHints: readonly ServerName[] = Object.freeze([
  root('a', '198.41.0.4', '2001:503:ba3e::2:30'),
  root('b', '170.247.170.2', '2801:1b8:10::b'),
  root('c', '192.33.4.12', '2001:500:2::c'),
  root('d', '199.7.91.13', '2001:500:2d::d'),
  root('e', '192.203.230.10', '2001:500:a8::e'),
  root('f', '192.5.5.241', '2001:500:2f::f'),
  root('g', '192.112.36.4', '2001:500:12::d0d'),
  root('h', '198.97.190.53', '2001:500:1::53'),
  root('i', '192.36.148.17', '2001:7fe::53'),
  root('j', '192.58.128.30', '2001:503:c27::2:30'),
  root('k', '193.0.14.129', '2001:7fd::1'),
  root('l', '199.7.83.42', '2001:500:9f::42'),
  root('m', '202.12.27.33', '2001:dc3::35'),
])
