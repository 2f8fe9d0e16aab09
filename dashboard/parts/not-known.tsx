// Stands where pools, members and services would, while nothing is known of them.
import { heardMs, liveFault } from '../api/live.ts'
import { Fault, Loading } from './page.tsx'

/** Without it an empty list would say that there is none. */
export const isKnown = (): boolean => heardMs.value > 0

export function NotKnown() {
  return liveFault.value === '' ? <Loading /> : <Fault fault={liveFault.value} />
}
