// Ranges of addresses as networks, for servers that take networks alone.
import { expect, test } from 'vitest'
import { cidrsOf } from '#bench/servers/geo-servers.ts'

test.each([
  ['everything', 0, 0xffff_ffff, ['0.0.0.0/0']],
  ['one address', 0x0a00_0001, 0x0a00_0001, ['10.0.0.1/32']],
  ['one network', 0x0a00_0000, 0x0a00_00ff, ['10.0.0.0/24']],
  [
    'a range across borders',
    0x0a00_0001,
    0x0a00_0004,
    ['10.0.0.1/32', '10.0.0.2/31', '10.0.0.4/32'],
  ],
  ['the upper half', 0x8000_0000, 0xffff_ffff, ['128.0.0.0/1']],
  ['the last three', 0xffff_fffd, 0xffff_ffff, ['255.255.255.253/32', '255.255.255.254/31']],
])('%s is the fewest networks', (_name, first, last, networks) => {
  expect([...cidrsOf(first, last)]).toEqual(networks)
})
