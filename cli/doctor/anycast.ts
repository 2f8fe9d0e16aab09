// Checks whether this node's BGP daemon answers, and whether the addresses are on this machine.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { driverOf } from '#node/anycast/drivers.ts'
import { bad, good, unknown, warning } from './check.ts'
import type { Check, Finding } from './check.ts'

export const anycast: Check = {
  name: 'anycast',
  async look({ settings }) {
    const { anycast: section, dns } = settings
    const driver = driverOf(section)
    if (driver === null) return [good('nothing is announced (anycast.driver is none)')]
    const findings = await Promise.all(section.addresses.map(addressFinding))
    const isOpen = dns.listenAddr === '0.0.0.0' || dns.listenAddr === '::'
    if (!isOpen && !section.addresses.includes(dns.listenAddr)) {
      findings.push(
        bad(
          `dns.listenAddr is ${dns.listenAddr}, which is none of anycast.addresses`,
          'set dns.listenAddr to 0.0.0.0 or ::, or to the address',
        ),
      )
    }
    const seen = await driver.look()
    if (!seen.ok)
      findings.push(bad(seen.error, 'the node tries again; see docs/operations/anycast.md'))
    else if (seen.value.announces === null) {
      findings.push(unknown(`${section.driver} cannot be asked what it announces`))
    } else findings.push(good(`${section.driver} can be told: ${seen.value.text}`))
    return findings
  },
}

async function addressFinding(address: string): Promise<Finding> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  try {
    socket.bind({ address, port: 0, exclusive: true })
    await once(socket, 'listening')
    return good(`${address} is an address of this machine`)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return code === 'EADDRNOTAVAIL'
      ? bad(
          `${address} is no address of this machine: the node will not announce`,
          `add it, as with "ip address add ${address} dev lo"`,
        )
      : warning(`${address} cannot be used: ${code}`, 'see the network of this machine')
  } finally {
    socket.close()
  }
}
