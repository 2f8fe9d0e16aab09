// The reader's own account: its data, an authenticator app, sign-out.
import { useState } from 'preact/hooks'
import { useAct } from '../api/act.ts'
import { send } from '../api/client.ts'
import { unfollow } from '../api/live.ts'
import { learnWho, me, signOut } from '../api/session.ts'
import type { paths } from 'openapi-of-gslbd'
import { useFirstField } from '../parts/first-field.ts'
import { Badge, Card, Fault, Notice, Page } from '../parts/page.tsx'
import { Input } from './sign-in.tsx'

type Enrolment =
  paths['/api/v1/auth/totp/setup']['post']['responses'][200]['content']['application/json']

export function Account() {
  const who = me.value
  const { fault, act } = useAct()
  if (!who) return null
  const leave = (isEverywhere: boolean) =>
    act(async () => {
      await signOut(isEverywhere)
      unfollow()
    })
  return (
    <Page
      title="Your account"
      actions={
        who.id !== null && (
          <>
            <button
              type="button"
              title="In every browser and program that is signed in to this account"
              onClick={() => void leave(true)}
            >
              Log out everywhere
            </button>
            <button type="button" onClick={() => void leave(false)}>
              Log out
            </button>
          </>
        )
      }
    >
      <Fault fault={fault} />
      <Card title="Who you are">
        <dl class="facts">
          <dt>Account</dt>
          <dd>
            {who.email ?? (who.kind === 'dev' ? 'nobody: this node is in dev mode' : who.kind)}
          </dd>
          <dt>Tenant</dt>
          <dd>{who.tenantId}</dd>
          <dt>Role</dt>
          <dd>{who.isSystemAdmin ? 'system administrator' : (who.role ?? '–')}</dd>
          <dt>May do</dt>
          <dd class="row">
            {who.permissions.map((one) => (
              <span class="chip" key={one}>
                {one}
              </span>
            ))}
          </dd>
        </dl>
      </Card>
      {who.id !== null && who.authProvider === 'password' && <Totp isActive={who.totpEnabled} />}
    </Page>
  )
}

function Totp({ isActive }: { isActive: boolean }) {
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null)
  const [code, setCode] = useState('')
  const { fault, act } = useAct()
  const form = useFirstField(enrolment)
  const begin = async (): Promise<void> => {
    const { body } = await send('/api/v1/auth/totp/setup', { method: 'POST' })
    setEnrolment(body as Enrolment)
  }
  const verify = async (): Promise<void> => {
    await send('/api/v1/auth/totp/verify', { method: 'POST', body: { code } })
    setEnrolment(null)
    await learnWho()
  }
  return (
    <Card
      title="Authenticator app"
      aside={isActive ? <Badge tone="good">on</Badge> : <Badge tone="warn">off</Badge>}
    >
      <div class="stack">
        <Fault fault={fault} />
        {isActive && <Notice tone="good">Each sign-in asks for a code of your app.</Notice>}
        {!isActive && enrolment === null && (
          <div class="split">
            <p>With it a stolen password is not enough.</p>
            <button type="button" onClick={() => void act(begin)}>
              Set up
            </button>
          </div>
        )}
        {enrolment !== null && (
          <form
            ref={form}
            class="stack"
            onSubmit={(event) => {
              event.preventDefault()
              void act(verify)
            }}
          >
            <p>Scan this with your app, or type the secret, then enter the code it shows.</p>
            <img class="qr" src={enrolment.qrCode} alt="QR code of the secret below" />
            <code>{enrolment.secret}</code>
            <Input
              {...{ label: 'Code', type: 'text', name: 'one-time-code' }}
              value={code}
              onInput={setCode}
              isNumeric
            />
            <div>
              <button type="submit" class="primary">
                Turn it on
              </button>
            </div>
          </form>
        )}
      </div>
    </Card>
  )
}
