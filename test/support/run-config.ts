// Configures the test runs: common options, and the files of each.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProjectInlineConfiguration, ViteUserConfig } from 'vitest/config'
import { FlakyReporter } from './flaky-reporter.ts'
import type { Lane } from './lane.ts'
import { useMemoryForTempDirs } from './memory-dir.ts'
import { SlowReporter } from './slow-reporter.ts'

const root = join(import.meta.dirname, '../..')
const isCi = (process.env['CI'] ?? '') !== ''
const isOnGithub = process.env['GITHUB_ACTIONS'] === 'true'

// Shares compiled code between processes: threads that tests start, and processes that they start.
// `bin/gslbd` does the same.
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules/.cache/gslbd')

/** What each run has; the projects of a lane inherit it. */
export const shared = {
  pool: 'forks',
  // Node itself loads the files, as in the product: nothing is transformed, and its cache is used.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  globalSetup: ['test/support/run-directory.ts'],
  setupFiles: ['test/support/setup.ts'],
  // Long, since a busy machine is no failure; a hang is still found.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: 120_000, interval: 10 } },
  // A retry on CI saves work, and is listed at the end.
  retry: isCi ? 1 : 0,
  reporters: [
    'default',
    ...(isOnGithub ? ['github-actions'] : []),
    new FlakyReporter(root),
    new SlowReporter(root),
  ],
} satisfies ViteUserConfig['test']

/** Files that measure or fill their own process, start threads in it, or replace shared things. */
export const apart = [
  'test/e2e/**/*.test.ts',
  'test/unit/system/**/*.test.ts',
  'test/unit/answer/{cookies/answers,counters/query-bucket,rate-limit/bucket-table}.test.ts',
  'test/unit/answer/{response-policy,script/client,signing/zone-signer}.test.ts',
  'test/unit/health/{lookup,script,script-session}.test.ts',
  'test/unit/health/view/{monitor,verdict-writer}.test.ts',
  'test/unit/inputs/rum/rum-store.test.ts',
  'test/unit/server/redirect/redirect-server.test.ts',
  'test/unit/server/signing/zone-keys.test.ts',
  'test/unit/server/threads/**/*.test.ts',
  'test/contract/{packet-sources,plain-ways,signers,ways}.test.ts',
  'test/property/mmdb.test.ts',
  'test/unit/metrics/metrics.test.ts',
  'test/unit/bundle/load/load.test.ts',
  'test/unit/compiler/hostile-files.test.ts',
  // Looks at the globals, to which packages of ACME add.
  'test/unit/compiler/scripts/script-absences.test.ts',
  'test/unit/state/sql.test.ts',
]
/** Need other DNS servers: `npm run test:peers`. */
const peers = 'test/peers/**'
const everything = ['test/**/*.test.ts']

/**
 * Whole files of the long lane: rare events that cost many starts, and promises that a short file
 * shows with less.
 */
export const longOnly = [
  // Deaths, damage, full disks and slowness.
  'test/e2e/{crash,damaged-objects,node-disk,oversized-file,geo-memory,geo-reload}.test.ts',
  'test/e2e/{health-restart,update-crash}.test.ts',
  'test/e2e/{api-write-crash,gitops-crash,gitops-write-crash}.test.ts',
  'test/e2e/{api-write-races,gitops-write-races}.test.ts',
  'test/e2e/daemon-{clock,crash,disk,memory,output,process,threads,unread}.test.ts',
  'test/e2e/{replace,replace-roles}.test.ts',
  // Third-party programs, and walks through everything.
  'test/e2e/{alias-records,api-walk,daemon-access,daemon-licence,gitops-ssh,hostnames}.test.ts',
  'test/e2e/dashboard{,-commits,-links,-people,-screens,-yaml}.test.ts',
  'test/e2e/{node-key-rotation,plan-page,readme,reference-page}.test.ts',
  'test/property/plan-world.test.ts',
  // Several starts each; their parts have tests of their own.
  'test/e2e/{daemon-health-off,daemon-script-checks,guardrail,health-rotation,push-verdict}.test.ts',
  'test/e2e/{alerts,control-lost,scripts,soa-serials}.test.ts',
  // Disks that lose what was not flushed.
  'test/e2e/power-cut.test.ts',
  // Four processes, and waves that hold.
  'test/e2e/{invented-node,waves}.test.ts',
  // One node each, for a path whose parts have tests of their own.
  'test/e2e/daemon-{dashboard,fault,metrics,ready,refused-write}.test.ts',
  'test/e2e/{api-writes,name-holders,quickstart}.test.ts',
  'test/e2e/{dynamic-records,fleet,geo,member-status,overlays,policy-tests}.test.ts',
  'test/e2e/{query-log,redirects,rum,scripts-start,traces,write-effect}.test.ts',
  'test/e2e/{discovery,external-dns,stream-restart}.test.ts',
  'test/unit/gitops/write/refused-by-disk.test.ts',
  // A full build, and the steps of a CI job.
  'test/unit/{bin/build,compiler/workflow}.test.ts',
  'test/e2e/release.test.ts',
]

const filesOf = (patterns: readonly string[]): string[] => globSync(patterns, { cwd: root })

/** Files that ask for their lane, or have properties: `setup.ts` sets how often those run. */
const hasCounts = (path: string): boolean =>
  /\/support\/lane\.ts'|from 'fast-check'/.test(readFileSync(join(root, path), 'utf8'))

/** Files that do more in the long lane; it would only repeat the others. */
const filesOfLongLane = (): string[] => {
  const whole = new Set(filesOf(longOnly))
  return filesOf(everything).filter((path) => whole.has(path) || hasCounts(path))
}

/**
 * Three processes at a time on two cores, since many tests wait. Loading the program costs most
 * files more than their tests, so files that do not disturb others share a process, which loads it
 * once.
 */
export function runOf(lane: Lane): ViteUserConfig {
  if (lane === 'short') useMemoryForTempDirs()
  const include = lane === 'short' ? everything : filesOfLongLane()
  const project = (
    name: string,
    isolate: boolean,
    files: { readonly include: string[]; readonly exclude: string[] },
  ): TestProjectInlineConfiguration => ({
    test: { ...files, name, isolate, provide: { stateServers: false, lane } },
  })
  const isApart = (path: string): boolean => filesOf(apart).includes(path)
  const long = { apart: include.filter(isApart), together: include.filter((p) => !isApart(p)) }
  const short = { apart, together: everything }
  const files = lane === 'short' ? short : long
  const elsewhere = lane === 'short' ? [peers, ...longOnly] : [peers]
  return {
    test: {
      ...shared,
      maxWorkers: lane === 'short' ? 3 : 2,
      projects: [
        project('apart', true, { include: files.apart, exclude: elsewhere }),
        project('together', false, { include: files.together, exclude: [...elsewhere, ...apart] }),
      ],
    },
  }
}
