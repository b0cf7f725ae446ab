/** Emoji that are common. In each line an emoji, its name, and other words for it. */

export const english = `
😀 grinning happy smile
😃 smiley happy joy
😄 smile happy laugh
😁 grin happy
😆 laughing haha
😅 sweat_smile relief phew
😂 joy tears laugh lol
🤣 rofl laugh floor
🙂 slightly_smiling fine
🙃 upside_down irony
😉 wink
😊 blush pleased
😇 innocent angel halo
🥰 smiling_hearts love adore
😍 heart_eyes love
🤩 star_struck wow
😘 kiss love
😋 yum tasty
😛 tongue
😜 winking_tongue crazy
🤪 zany crazy
🤑 money_face rich
🤗 hug
🤭 giggle oops
🤫 shush quiet secret
🤔 thinking hmm
🤐 zipper_mouth secret
🤨 raised_eyebrow doubt
😐 neutral meh
😑 expressionless meh
😶 no_mouth speechless
😏 smirk
😒 unamused meh
🙄 eye_roll
😬 grimace awkward
😌 relieved calm
😔 pensive sad
😪 sleepy tired
😴 sleeping zzz tired
😷 mask ill
🤒 thermometer ill fever
🤕 bandage hurt
🤢 nauseated sick
🤮 vomit sick
🤧 sneeze cold
🥵 hot heat
🥶 freezing cold
🥴 woozy
😵 dizzy
🤯 mind_blown exploding wow
🤠 cowboy
🥳 party_face celebrate birthday
😎 sunglasses cool
🤓 nerd geek
🧐 monocle inspect
😕 confused
😟 worried
🙁 frown sad
😮 open_mouth surprised wow
😲 astonished wow
😳 flushed embarrassed
🥺 pleading puppy please
😦 frowning dismay
😨 fearful scared
😰 anxious sweat
😥 disappointed_relieved sad
😢 cry sad tear
😭 sob cry sad
😱 scream scared shock
😖 confounded
😞 disappointed sad
😓 downcast sweat
😩 weary tired
😫 tired
🥱 yawn bored tired
😤 triumph huff
😡 rage angry
😠 angry mad
🤬 swearing curse
😈 devil_smile
💀 skull dead
💩 poop
🤡 clown
👻 ghost halloween
👽 alien
🤖 robot bot
🎃 pumpkin halloween
😺 cat_smile
🙈 see_no_evil monkey
🙉 hear_no_evil monkey
🙊 speak_no_evil monkey
👋 wave hello bye hi
🤚 raised_back_of_hand
✋ raised_hand stop high_five
🖖 vulcan spock
👌 ok_hand perfect
🤌 pinched_fingers
🤏 pinch small
✌️ victory peace
🤞 crossed_fingers luck
🤟 love_you
🤘 metal rock
🤙 call_me
👈 point_left
👉 point_right
👆 point_up
👇 point_down
👍 thumbs_up +1 yes like agree
👎 thumbs_down -1 no dislike
✊ fist
👊 punch fist_bump
👏 clap applause bravo
🙌 raised_hands hooray
👐 open_hands
🤲 palms_up
🤝 handshake deal
🙏 pray thanks please
✍️ writing
💅 nails
💪 muscle strong flex
👀 eyes look see
👁️ eye
🧠 brain smart
👂 ear listen
🤷 shrug dunno
🤦 facepalm
🙋 raising_hand question
🙇 bow sorry
💁 tipping_hand info
🏃 run
🚶 walk
💃 dance
🧘 meditate yoga
👶 baby
👩‍💻 woman_technologist developer
👨‍💻 man_technologist developer
🧑‍🚀 astronaut
🦸 superhero
🧙 wizard mage
❤️ heart love red
🧡 orange_heart
💛 yellow_heart
💚 green_heart
💙 blue_heart
💜 purple_heart
🖤 black_heart
🤍 white_heart
💔 broken_heart
💕 two_hearts love
💖 sparkling_heart
💯 hundred 100 perfect
💥 boom explosion
💫 dizzy_star
💦 sweat_drops
💨 dash fast
💬 speech comment chat
💭 thought
💤 zzz sleep
✨ sparkles new shiny
⭐ star
🌟 glowing_star
🔥 fire hot lit
🎉 tada party celebrate hooray
🎊 confetti party
🎈 balloon birthday
🎁 gift present
🎂 cake birthday
🏆 trophy win
🥇 gold_medal first win
🥈 silver_medal second
🥉 bronze_medal third
🎯 dart target bullseye
🎮 game controller
🎲 dice game
🎵 music note
🎤 microphone sing
🎧 headphones music
🎸 guitar
🎨 palette art paint
🎬 film movie
📷 camera photo
🐶 dog
🐱 cat
🐭 mouse
🐰 rabbit bunny
🦊 fox
🐻 bear
🐼 panda
🐨 koala
🦁 lion
🐮 cow
🐷 pig
🐸 frog
🐔 chicken
🐧 penguin linux
🐦 bird
🦆 duck rubber
🦉 owl
🐴 horse
🦄 unicorn
🐝 bee
🐛 bug
🦋 butterfly
🐌 snail slow
🐢 turtle slow
🐍 snake python
🐙 octopus
🦀 crab rust
🐠 fish
🐬 dolphin
🐳 whale docker
🐘 elephant
🌵 cactus
🌲 tree
🌱 seedling plant grow
🍀 clover luck
🌹 rose flower
🌸 blossom flower
🌻 sunflower flower
🌍 earth world globe
🌙 moon night
☀️ sun sunny
⛅ cloud_sun weather
🌧️ rain
⛈️ storm thunder
❄️ snowflake cold winter
🌈 rainbow
⚡ zap lightning fast
🌊 ocean wave_water
🍎 apple
🍌 banana
🍓 strawberry
🍒 cherries
🍑 peach
🍍 pineapple
🥑 avocado
🍅 tomato
🌶️ chili spicy
🍞 bread
🧀 cheese
🍔 burger
🍟 fries
🍕 pizza
🌮 taco
🍣 sushi
🍜 noodles ramen
🍰 shortcake
🍪 cookie
🍫 chocolate
🍿 popcorn
☕ coffee tea
🍵 green_tea
🍺 beer
🍻 cheers beers
🍷 wine
🥂 champagne toast
🚀 rocket ship launch
✈️ airplane flight travel
🚗 car
🚲 bicycle bike
🚂 train
⛵ sailboat
🏠 house home
🏢 office building
🏖️ beach holiday
⛰️ mountain
⏰ alarm clock
⌛ hourglass wait
📅 calendar date
📌 pushpin pin
📎 paperclip attach
📝 memo note
📚 books read
📈 chart_up growth
📉 chart_down
📊 bar_chart
📦 package box
📧 email mail
📞 phone call
💻 laptop computer
🖥️ desktop computer
⌨️ keyboard
🔋 battery
🔌 plug
💡 bulb idea
🔦 flashlight
🔍 search magnifier
🔒 lock secure
🔓 unlock
🔑 key
🔨 hammer build
🔧 wrench fix
🛠️ tools
⚙️ gear settings
🧪 test_tube experiment
💊 pill medicine
🩹 adhesive_bandage patch
🧹 broom clean
🗑️ trash delete
💰 money
💎 gem diamond
⚖️ scales law
🛡️ shield
🚧 construction wip
🚨 siren alert
🚦 traffic_light
🏁 finish_flag
🚩 red_flag
🏳️‍🌈 rainbow_flag pride
✅ check done yes
☑️ checkbox
✔️ check_mark
❌ cross no wrong
❗ exclamation important
❓ question
⚠️ warning
⛔ no_entry stop
🚫 forbidden no
♻️ recycle
🔴 red_circle
🟡 yellow_circle
🟢 green_circle
🔵 blue_circle
➕ plus add
➖ minus
➡️ right_arrow
⬅️ left_arrow
⬆️ up_arrow
⬇️ down_arrow
🔁 repeat
🔔 bell notify
🔕 bell_off mute
🆗 ok
🆕 new
🆘 sos help
`;
