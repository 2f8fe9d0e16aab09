// Lists the checks of `gslbd doctor`. Adding one means a file here, a row, and its cases.
import type { Check } from './check.ts'
import { settings } from './settings.ts'
import { ports } from './ports.ts'
import { backups, disk } from './disk.ts'
import { journal } from './journal.ts'
import { keys } from './keys.ts'
import { setup } from './setup.ts'
import { trust } from './trust.ts'
import { repository } from './repository.ts'
import { servers } from './servers.ts'
import { answers } from './answers.ts'
import { delegation } from './delegation.ts'
import { anycast } from './anycast.ts'
import { clock } from './clock.ts'
import { limits } from './limits.ts'
import { memory } from './memory.ts'

export const checks: readonly Check[] = Object.freeze([
  settings,
  ports,
  disk,
  backups,
  keys,
  setup,
  trust,
  repository,
  servers,
  journal,
  answers,
  delegation,
  anycast,
  clock,
  limits,
  memory,
])
