// Checks whether a node would start with these settings.
import { checkStart } from '#node/compose/start-checks.ts'
import { bad, good, warning } from './check.ts'
import type { Check } from './check.ts'

export const settings: Check = {
  name: 'settings',
  async look({ settings: given, env }) {
    const { errors, warnings } = await checkStart(given, env)
    const found = [
      ...errors.map((error) => bad(error, 'a node does not start until this is mended')),
      ...warnings.map((one) => warning(one, 'a node starts, and lacks this')),
    ]
    return found.length > 0 ? found : [good('a node starts with them')]
  },
}
