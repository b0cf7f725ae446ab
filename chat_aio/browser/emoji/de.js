/** The names of emoji in German, and other words for them. The lines are those of en.js. */

export const german = `
😀 grinsend froh lachen lächeln
😃 strahlend froh freude
😄 lachend froh lächeln
😁 breit_grinsend froh
😆 kichernd lachen haha
😅 schwitzend_lachend erleichtert puh
😂 freudentränen lachen lol
🤣 kringeln lachen boden
🙂 leicht_lächelnd gut
🙃 kopfüber ironie
😉 zwinkern
😊 errötend zufrieden
😇 engel unschuldig heiligenschein
🥰 verliebt_lächelnd liebe herzen
😍 herzaugen liebe verliebt
🤩 begeistert sterne wow
😘 kuss liebe
😋 lecker
😛 zunge
😜 zwinkernd_zunge verrückt
🤪 albern verrückt
🤑 geldgesicht reich
🤗 umarmung
🤭 kichern ups
🤫 pst leise still geheim
🤔 nachdenklich denken hm
🤐 reißverschluss geheim schweigen
🤨 augenbraue skeptisch zweifel
😐 neutral naja
😑 ausdruckslos naja
😶 ohne_mund sprachlos
😏 schmunzeln
😒 missmutig naja
🙄 augenrollen
😬 grimasse verlegen
😌 erleichtert ruhig
😔 betrübt traurig
😪 schläfrig müde
😴 schlafend müde zzz
😷 maske krank
🤒 fieber krank thermometer
🤕 verband verletzt
🤢 übel krank
🤮 erbrechen krank
🤧 niesen erkältet schnupfen
🥵 hitze heiß
🥶 frieren kalt
🥴 benebelt
😵 schwindlig
🤯 explodierender_kopf wow
🤠 cowboy
🥳 partygesicht feiern geburtstag
😎 sonnenbrille cool
🤓 nerd streber
🧐 monokel prüfen
😕 verwirrt
😟 besorgt
🙁 stirnrunzeln traurig
😮 offener_mund überrascht wow
😲 erstaunt wow
😳 verlegen rot
🥺 flehend bitte hundeblick
😦 bestürzt
😨 ängstlich angst
😰 besorgt_schwitzend angst
😥 enttäuscht_erleichtert traurig
😢 weinen traurig träne
😭 heulen weinen traurig
😱 schrei angst schock
😖 verstört
😞 enttäuscht traurig
😓 bedrückt schweiß
😩 erschöpft müde
😫 müde
🥱 gähnen müde langweilig
😤 schnauben triumph
😡 wut wütend
😠 verärgert wütend böse
🤬 fluchen schimpfen
😈 teufel lächelnd
💀 totenkopf tot schädel
💩 kacke
🤡 clown
👻 gespenst geist halloween
👽 außerirdischer alien
🤖 roboter bot
🎃 kürbis halloween
😺 katze_lächelnd
🙈 nichts_sehen affe
🙉 nichts_hören affe
🙊 nichts_sagen affe
👋 winken hallo tschüss
🤚 handrücken
✋ hand stopp abklatschen
🖖 vulkanier spock
👌 perfekt_hand ok
🤌 fingerspitzen
🤏 bisschen klein
✌️ sieg frieden
🤞 daumen_drücken glück
🤟 ich_liebe_dich
🤘 metal rock
🤙 ruf_an
👈 zeigt_links
👉 zeigt_rechts
👆 zeigt_hoch
👇 zeigt_runter
👍 daumen_hoch +1 ja gut gefällt einverstanden
👎 daumen_runter -1 nein schlecht
✊ faust
👊 faustschlag
👏 applaus klatschen bravo
🙌 jubeln hurra hände
👐 offene_hände
🤲 handflächen
🤝 händedruck abgemacht
🙏 danke bitte beten
✍️ schreiben
💅 nägel
💪 muskel stark
👀 augen schauen sehen
👁️ auge
🧠 gehirn klug
👂 ohr hören
🤷 schulterzucken keine_ahnung
🤦 hand_vor_kopf facepalm
🙋 melden frage
🙇 verbeugung entschuldigung
💁 auskunft info
🏃 laufen rennen
🚶 gehen
💃 tanzen
🧘 meditieren yoga
👶 baby
👩‍💻 entwicklerin technikerin
👨‍💻 entwickler techniker
🧑‍🚀 raumfahrt astronaut
🦸 superheld
🧙 zauberer magier
❤️ herz liebe rot
🧡 herz_orange
💛 herz_gelb
💚 herz_grün
💙 herz_blau
💜 herz_lila
🖤 herz_schwarz
🤍 herz_weiß
💔 gebrochenes_herz
💕 zwei_herzen liebe
💖 funkelndes_herz
💯 hundert 100 perfekt
💥 knall explosion
💫 schwindel_stern
💦 schweißtropfen
💨 schnell windstoß
💬 sprechblase kommentar chat
💭 gedanke
💤 schlaf zzz
✨ funkeln neu glänzend
⭐ stern
🌟 leuchtender_stern
🔥 feuer heiß
🎉 party feiern hurra konfetti
🎊 konfettiball party
🎈 luftballon geburtstag
🎁 geschenk
🎂 geburtstagskuchen torte
🏆 pokal gewinnen
🥇 goldmedaille erste gewinnen
🥈 silbermedaille zweite
🥉 bronzemedaille dritte
🎯 zielscheibe treffer
🎮 spiel controller
🎲 würfel spiel
🎵 musik note
🎤 mikrofon singen
🎧 kopfhörer musik
🎸 gitarre
🎨 farbpalette kunst malen
🎬 film
📷 kamera foto
🐶 hund
🐱 katze
🐭 maus
🐰 hase
🦊 fuchs
🐻 bär
🐼 panda
🐨 koala
🦁 löwe
🐮 kuh
🐷 schwein
🐸 frosch
🐔 huhn
🐧 pinguin linux
🐦 vogel
🦆 ente quietscheente
🦉 eule
🐴 pferd
🦄 einhorn
🐝 biene
🐛 raupe fehler
🦋 schmetterling
🐌 schnecke langsam
🐢 schildkröte langsam
🐍 schlange python
🐙 krake tintenfisch
🦀 krebs rust
🐠 fisch
🐬 delfin
🐳 wal docker
🐘 elefant
🌵 kaktus
🌲 baum tanne
🌱 keimling pflanze wachsen
🍀 kleeblatt glück
🌹 rose blume
🌸 kirschblüte blume
🌻 sonnenblume blume
🌍 erde welt globus
🌙 mond nacht
☀️ sonne sonnig
⛅ wolke_sonne wetter
🌧️ regen
⛈️ gewitter donner
❄️ schneeflocke kalt winter
🌈 regenbogen
⚡ blitz schnell
🌊 welle meer
🍎 apfel
🍌 banane
🍓 erdbeere
🍒 kirschen
🍑 pfirsich
🍍 ananas
🥑 avocado
🍅 tomate
🌶️ chili scharf
🍞 brot
🧀 käse
🍔 burger
🍟 pommes
🍕 pizza
🌮 taco
🍣 sushi
🍜 nudeln ramen
🍰 tortenstück kuchen
🍪 keks
🍫 schokolade
🍿 popcorn
☕ kaffee tee
🍵 grüner_tee
🍺 bier
🍻 prost bier
🍷 wein
🥂 sekt anstoßen prost
🚀 rakete start
✈️ flugzeug flug reise
🚗 auto
🚲 fahrrad rad
🚂 zug bahn
⛵ segelboot
🏠 haus zuhause
🏢 büro gebäude
🏖️ strand urlaub
⛰️ berg
⏰ wecker uhr
⌛ sanduhr warten
📅 kalender datum termin
📌 pinnnadel anheften
📎 büroklammer anhang
📝 notiz
📚 bücher lesen
📈 diagramm_steigend wachstum
📉 diagramm_fallend
📊 balkendiagramm
📦 paket
📧 email post
📞 telefon anruf
💻 laptop computer
🖥️ bildschirm computer
⌨️ tastatur
🔋 batterie akku
🔌 stecker
💡 glühbirne idee
🔦 taschenlampe
🔍 suche lupe
🔒 schloss sicher
🔓 offenes_schloss
🔑 schlüssel
🔨 hammer bauen
🔧 schraubenschlüssel reparieren
🛠️ werkzeug
⚙️ zahnrad einstellungen
🧪 reagenzglas experiment
💊 pille medizin
🩹 pflaster
🧹 besen aufräumen
🗑️ papierkorb löschen
💰 geld
💎 edelstein diamant
⚖️ waage recht
🛡️ schild schutz
🚧 baustelle in_arbeit
🚨 sirene alarm
🚦 ampel
🏁 zielflagge fertig
🚩 rote_flagge
🏳️‍🌈 regenbogenflagge pride
✅ erledigt ja haken
☑️ kästchen
✔️ häkchen
❌ kreuz nein falsch
❗ ausrufezeichen wichtig
❓ fragezeichen frage
⚠️ warnung achtung
⛔ einfahrt_verboten stopp
🚫 verboten nein
♻️ recycling
🔴 roter_kreis
🟡 gelber_kreis
🟢 grüner_kreis
🔵 blauer_kreis
➕ plus
➖ minus
➡️ pfeil_rechts
⬅️ pfeil_links
⬆️ pfeil_hoch
⬇️ pfeil_runter
🔁 wiederholen
🔔 glocke benachrichtigen
🔕 stumm glocke_aus
🆗 okay ok
🆕 neu
🆘 sos hilfe
`;
