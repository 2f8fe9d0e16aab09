// Checks whether there is as much memory as a node of these roles takes.
import { good, warning } from './check.ts'
import type { Check } from './check.ts'

const mib = 1_048_576
/** Memory of a node with 10,000 services, half of it for the embedded database. */
const wholeNodeMib = 768
const dnsNodeMib = 256

export const memory: Check = {
  name: 'memory',
  async look({ settings: { roles, dns } }) {
    const needed = roles.includes('control') ? wholeNodeMib : dnsNodeMib
    const availableMib = Math.floor(process.availableMemory() / mib)
    const found = `${availableMib} MiB are available`
    if (availableMib >= needed) return [good(found)]
    const threads = dns.threads > 1 ? ', or lower dns.threads' : ''
    return [warning(found, `a node takes up to ${needed} MiB: make room${threads}`)]
  },
}
